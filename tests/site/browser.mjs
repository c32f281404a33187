// The site in a headless browser: browser.mjs BUILT CHROMIUM [PICTURES]. Each page is opened 400 and
// 1280 columns wide. Prints `ok NAME` or `not ok NAME`; with PICTURES, leaves pictures there.
//
// - The title is that of the page, and no script fails or asks for something from elsewhere.
// - Nothing is wider than the window, and each picture is there.
// - The search finds a page and leads there.
//
// Faults planted in a page are found. No server is needed: the browser's requests are answered here.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { address, pages, root } from '../../site/pages.js'

const { chromium } = createRequire(join(root, 'site/package.json'))('playwright-core')
const [built, executablePath, pictures] = process.argv.slice(2)
const SITE = 'http://site.test'
const WIDTHS = [400, 1280]

// What is wrong with the page that the browser shows.
function lookAt() {
  const scrolls = one => ['auto', 'scroll', 'hidden'].includes(getComputedStyle(one).overflowX)
  function kept(one) {
    for (let box = one.parentElement; box && box !== document.body; box = box.parentElement)
      if (scrolls(box)) return true
    return false
  }
  const wide = [...document.querySelectorAll('#VPContent *')].filter(
    one => one.getBoundingClientRect().right > innerWidth + 1 && !kept(one))
  const missing = [...document.images].filter(image => image.complete && !image.naturalWidth)
  return [
    ...wide.slice(0, 3).map(one => `<${one.tagName}> is wider than the window: ${one.textContent}`),
    ...document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : [],
    ...missing.map(image => `there is no picture ${image.src}`),
  ].map(fault => fault.slice(0, 100))
}

async function answer(route, faults) {
  const url = new URL(route.request().url())
  let path = join(resolve(built), decodeURIComponent(url.pathname))
  if (existsSync(path) && statSync(path).isDirectory()) path = join(path, 'index.html')
  if (url.origin === SITE && existsSync(path)) return route.fulfill({ path })
  faults.push(`there is no ${url}`)
  return route.abort()
}

async function open(browser, width) {
  const faults = []
  const page = await browser.newPage({ viewport: { width, height: 900 }, reducedMotion: 'reduce' })
  await page.route('**/*', route => answer(route, faults))
  page.on('pageerror', error => faults.push(`a script fails: ${error.message}`))
  page.on('console', message => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  return { page, faults }
}

async function visit({ page, faults }, file, plant = () => {}) {
  faults.length = 0
  await page.goto(SITE + address(file), { waitUntil: 'load' })
  await page.evaluate(() => document.fonts.ready)
  await page.evaluate(plant)
  const heading = readFileSync(join(root, file), 'utf8').match(/^# (.*)/m)[1].replaceAll('`', '')
  const title = await page.title()
  const shown = await page.locator('h1').first().evaluate(one => one.firstChild.textContent.trim())
  const wrong = title.startsWith(heading) && heading.startsWith(shown) ? []
    : [`the title is ${title} over ${shown}, and not ${heading}`]
  return [...wrong, ...await page.evaluate(lookAt), ...faults]
}

async function pageFaults(browser, width) {
  const view = await open(browser, width)
  const found = []
  for (const file of pages) {
    found.push(...(await visit(view, file)).map(fault => `${file}: ${fault}`))
    if (pictures) {
      const path = join(pictures, `${file.replaceAll('/', '_')}.${width}.png`)
      await view.page.screenshot({ path })
    }
  }
  await view.page.close()
  return found
}

async function searchFaults(browser) {
  const { page, faults } = await open(browser, 1280)
  await page.goto(SITE)
  await page.locator('.VPNavBarSearch button').first().click()
  await page.locator('.VPLocalSearchBox input').fill('glossary')
  await page.locator('.VPLocalSearchBox .result').first().click()
  await page.waitForURL('**/docs/glossary.html*', { timeout: 10000 }).catch(
    () => faults.push(`the search leads to ${page.url()}`))
  return faults
}

const PLANTS = {
  script: () => new Promise(done => {
    setTimeout(done, 1)
    setTimeout(() => { throw new Error('planted') })
  }),
  wide: () => document.querySelector('main p').style.setProperty('width', '1300px'),
  title: () => { document.title = 'planted' },
  picture: () => new Promise(done => {
    const image = document.createElement('img')
    Object.assign(image, { onerror: done, src: '/nowhere.png' })
    document.querySelector('main').append(image)
  }),
}

async function plantFaults(browser) {
  const found = []
  const view = await open(browser, 1280)
  for (const [name, plant] of Object.entries(PLANTS))
    if (!(await visit(view, 'README.md', plant)).length) found.push(`${name} is not found`)
  return found
}

function report(name, faults) {
  console.log(faults.length ? 'not ok' : 'ok', `site-browser-${name}`)
  faults.slice(0, 20).forEach(fault => console.log(`# ${fault}`))
}

const browser = await chromium.launch({ executablePath })
for (const width of WIDTHS) report(width, await pageFaults(browser, width))
report('search', await searchFaults(browser))
report('planted', await plantFaults(browser))
await browser.close()
