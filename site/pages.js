// Which pages of the repository the site has, in which order, and where their links lead.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))
const LIST = 'docs/README.md'

const read = page => readFileSync(join(root, page), 'utf8')
const beside = (page, target) => posix.join(posix.dirname(page), target)

// The links to files in a text of a page, in order: { text, file, first }, where first is one that
// begins an item of a list.
function links(page, text = read(page)) {
  const found = text.matchAll(/(^\d+\. )?\[([^\]]+)\]\(([^):#]+)\)/gm)
  return [...found].map(([, item, text, target]) => (
    { text, file: beside(page, target), first: item !== undefined }))
}

// README, the pages of docs, and those that docs/README.md lists from elsewhere.
const files = readdirSync(join(root, 'docs'), { recursive: true }).map(file => posix.join('docs', file))
export const pages = new Set(
  ['README.md', ...files, ...links(LIST).map(link => link.file)].filter(file => file.endsWith('.md')))

// What else is in docs: programs and pictures, which the site has under their names.
export const attached = new Set(
  files.filter(file => !pages.has(file) && statSync(join(root, file)).isFile()))

// Patterns of all that holds no page.
export function excluded(folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap(one => {
    const path = posix.join(folder, one.name)
    if (!one.isDirectory()) return path.endsWith('.md') && !pages.has(path) ? [path] : []
    return [...pages].some(page => page.startsWith(path + '/')) ? excluded(path) : [path + '/**']
  })
}

// The address of a page. A folder's README is its index.
export const address = page => '/' + page.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '.html')

// The pages of a folder that its README lists, by their titles.
function chapters(page) {
  const inside = links(page).map(link => link.file).filter(
    file => posix.dirname(file) === posix.dirname(page) && pages.has(file))
  return [...new Set(inside)].map(file => (
    { text: read(file).match(/^# (.*)/m)[1].replaceAll('`', ''), link: address(file) }))
}

function entry({ text, file, first }) {
  const item = { text: first ? text : text[0].toUpperCase() + text.slice(1), link: address(file) }
  return file.endsWith('/README.md') ? { ...item, collapsed: true, items: chapters(file) } : item
}

// The groups and pages of docs/README.md.
export function sidebar() {
  const groups = read(LIST).split(/^## /m).slice(1)
  return groups.map(group => ({
    text: group.slice(0, group.indexOf('\n')),
    items: links(LIST, group).filter(link => pages.has(link.file)).map(entry),
  }))
}

// Where a link of a page leads: to what the site has, or to a file at `repository`. Without an address
// of the repository, a link to such a file is null.
export function destination(page, href, repository) {
  const [target, anchor] = href.split(/(?=#)/)
  if (/^([a-z]+:|#)/.test(href)) return href
  const file = beside(page, decodeURI(target))
  if (!existsSync(join(root, file))) throw new Error(`${page}: there is no ${target}`)
  if (pages.has(file)) return address(file) + (anchor ?? '')
  if (attached.has(file)) return '/' + file
  return repository ? new URL(file + (anchor ?? ''), repository).href : null
}
