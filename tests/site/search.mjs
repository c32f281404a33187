// The search of the site: search.mjs BUILT. Each page is found by a word that only its file has, and
// nothing else is. Prints `ok NAME` or `not ok NAME`.
import { readFileSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { address, pages, root } from '../../site/pages.js'

const MiniSearch = createRequire(join(root, 'site/package.json'))('minisearch')
const chunks = join(resolve(process.argv[2]), 'assets/chunks')

async function index() {
  const chunk = readdirSync(chunks).find(name => name.startsWith('@localSearchIndex'))
  const script = readFileSync(join(chunks, chunk), 'utf8')
  const { default: text } = await import(`data:text/javascript,${encodeURIComponent(script)}`)
  const fields = ['title', 'titles', 'text']
  return MiniSearch.loadJSON(text, { fields, storeFields: ['title', 'titles'] })
}

// The words of a text. MiniSearch also separates them there.
const words = text => new Set(text.toLowerCase().split(/[\n\r\p{Z}\p{P}\p{S}]+/u))

// [page, the longest word that only this page has] of each page that has one.
function ownWords() {
  const texts = new Map([...pages].map(page => [page, readFileSync(join(root, page), 'utf8')]))
  const all = new Map([...texts].map(([page, text]) => [page, words(text)]))
  return [...texts].flatMap(([page, text]) => {
    const others = [...pages].filter(other => other !== page).map(other => all.get(other))
    const prose = text.replace(/\]\([^)]*\)|<!--[^]*?-->|```[^]*?```/g, '')
    const own = [...words(prose)].filter(
      word => /^\p{L}{4,}$/u.test(word) && !others.some(found => found.has(word)))
    own.sort((one, other) => other.length - one.length || (one < other ? -1 : 1))
    return own.slice(0, 1).map(word => [page, word])
  })
}

function faults(search) {
  return ownWords().flatMap(([page, word]) => {
    const found = new Set(search.search(word).map(({ id }) => id.replace(/#.*/, '')))
    return found.has(address(page)) && found.size === 1 ? []
      : [`${page}: ${word} finds ${[...found].join(' ') || 'nothing'}`]
  })
}

function report(name, faults) {
  console.log(faults.length ? 'not ok' : 'ok', `site-${name}`)
  faults.forEach(fault => console.log(`# ${fault}`))
}

const search = await index()
report('search', faults(search))
report('search-planted', faults(new MiniSearch({ fields: ['text'] })).length ? []
  : ['an empty index is not found'])
