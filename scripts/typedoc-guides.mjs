/**
 * Plugin of TypeDoc: the pages of docs/ become pages of the API reference. Their titles are their first headings; their
 * groups are the headings of docs/README.md, in its order.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Comment, CommentTag, Converter } from 'typedoc'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Page -> { group, order }, from the table of contents. */
function readContents() {
  const pages = new Map()
  let group = 'Guides'
  for (const line of readFileSync(`${root}docs/README.md`, 'utf8').split('\n')) {
    group = /^## (.+)$/.exec(line)?.[1] ?? group
    for (const [, path] of line.matchAll(/\]\(([^)#]+\.md)\)/g)) pages.set(path, { group, order: pages.size })
  }
  return pages
}

/** @param {import('typedoc').Application} app */
export function load(app) {
  const pages = readContents()
  const orderOf = new Map()
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_, document) => {
    const text = document.content.map((part) => part.text).join('')
    const title = /^# (.+)\n+/.exec(text)
    if (title === null) throw new Error(`a page of docs/ has no heading: ${document.name}`)
    const { group, order } = pages.get(`${document.name}.md`) ?? pages.get(`protocols/${document.name}.md`) ?? {}
    document.name = title[1].replaceAll('`', '')
    document.content = [{ kind: 'text', text: text.slice(title[0].length) }]
    orderOf.set(document, order ?? pages.size)
    if (group !== undefined) {
      document.comment ??= new Comment()
      document.comment.blockTags.push(new CommentTag('@group', [{ kind: 'text', text: group }]))
    }
  })
  app.converter.on(
    Converter.EVENT_RESOLVE_END,
    ({ project }) => project.documents?.sort((one, other) => orderOf.get(one) - orderOf.get(other)),
    -1000,
  )
}
