import { cpSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { defineConfig } from 'vitepress'
import { attached, destination, excluded, pages, root, sidebar } from '../pages.js'

// Where the files of the repository are, such as https://example.org/risec/. Without it, the names
// of files outside of docs are plain text.
const repository = process.env.SITE_REPOSITORY?.replace(/\/*$/, '/')

const grammar = JSON.parse(readFileSync(join(root, 'editors/vscode/rise.tmLanguage.json'), 'utf8'))

// VitePress takes files with other extensions for pages.
process.env.VITE_EXTRA_EXTENSIONS = [...attached].map(file => extname(file).slice(1)).join()

// The anchor of a heading as GitHub makes it.
const slugify = heading => heading.toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-')

// Makes the links between files of the repository links of the site.
function linkPages(md) {
  md.core.ruler.after('inline', 'rise-links', ({ tokens, env }) => {
    const opened = []
    for (const token of tokens.flatMap(block => block.children ?? [])) {
      if (token.type === 'link_open') {
        const page = env.relativePath.replace(/(^|\/)index\.md$/, '$1README.md')
        const href = destination(page, token.attrGet('href'), repository)
        opened.push(href)
        if (href) token.attrSet('href', href)
      }
      const plain = token.type === 'link_open' ? opened.at(-1) === null
        : token.type === 'link_close' && opened.pop() === null
      if (plain) Object.assign(token, { type: 'text', content: '', nesting: 0 })
    }
  })
}

export default defineConfig({
  title: 'risec',
  description: 'A compiler of RISE, a language of data-parallel patterns, to CUDA C',
  lang: 'en-GB',
  srcDir: '..',
  outDir: '../build/site',
  cacheDir: '../build/site-cache',
  srcExclude: excluded(),
  rewrites: Object.fromEntries([...pages].map(page => [page, page.replace(/README\.md$/, 'index.md')])),
  buildEnd({ outDir }) {
    for (const file of attached) cpSync(join(root, file), join(outDir, file))
  },
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    languages: [{ ...grammar, name: 'rise' }],
    languageAlias: { cuda: 'cpp' },
    anchor: { slugify },
    config: linkPages,
  },
  // Pages import Vue from where they are, which is no folder of node_modules.
  vite: { resolve: { alias: { vue: join(root, 'site/node_modules/vue') } } },
  themeConfig: {
    nav: [{ text: 'All pages', link: '/docs/' }],
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
