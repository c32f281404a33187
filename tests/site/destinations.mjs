// Where links of the pages lead, with and without an address of the repository. Prints `ok NAME` or
// `not ok NAME`.
import { destination } from '../../site/pages.js'

const REPOSITORY = 'https://example.org/risec/'
// page, link, where it leads, and where without an address
const LINKS = [
  ['README.md', 'docs/faq.md', '/docs/faq.html', '/docs/faq.html'],
  ['docs/faq.md', '../README.md#install', '/#install', '/#install'],
  ['docs/faq.md', 'tutorial/README.md', '/docs/tutorial/', '/docs/tutorial/'],
  ['docs/faq.md', '#here', '#here', '#here'],
  ['docs/faq.md', 'https://example.org/', 'https://example.org/', 'https://example.org/'],
  ['docs/faq.md', 'plots/sum.svg', '/docs/plots/sum.svg', '/docs/plots/sum.svg'],
  ['docs/faq.md', '../examples', REPOSITORY + 'examples', null],
  ['docs/faq.md', '../tests/RESULTS.md#one', REPOSITORY + 'tests/RESULTS.md#one', null],
]

const faults = LINKS.flatMap(([page, link, there, alone]) => [[there, REPOSITORY], [alone]].flatMap(
  ([wanted, repository]) => {
    const found = destination(page, link, repository)
    return found === wanted ? [] : [`${page}: ${link} leads to ${found}, and not to ${wanted}`]
  }))
try {
  faults.push(`a file that is not there is at ${destination('docs/faq.md', 'nowhere.md')}`)
} catch (error) {
  if (!error.message.includes('docs/faq.md: there is no nowhere.md')) faults.push(error.message)
}
console.log(faults.length ? 'not ok' : 'ok', 'site-destinations')
faults.forEach(fault => console.log(`# ${fault}`))
