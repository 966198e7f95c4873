import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RecordedSession } from '../session/recorded-session.ts'
import { numberIn, refuse, sendJson } from './answers.ts'
import type { Routes } from './routes.ts'

/**
 * Answers requests about a recording: its description, its parts, and one page of memory at a time. The recording is
 * played in the browser, so each viewer has a position of its own.
 */
export class RecordingRoutes implements Routes {
  readonly #session: RecordedSession

  constructor(session: RecordedSession) {
    this.#session = session
  }

  answer({ pathname, searchParams }: URL, _request: IncomingMessage, response: ServerResponse): boolean {
    if (pathname === '/session') sendJson(response, { kind: 'recording', ...this.#session.facts })
    else if (pathname === '/part') this.#part(searchParams, response)
    else if (pathname === '/page') this.#page(searchParams, response)
    else return false
    return true
  }

  close(): void {
    this.#session.close()
  }

  #part(query: URLSearchParams, response: ServerResponse): void {
    const number = numberIn(query, 'number', response)
    if (number === undefined) return
    const part = this.#session.part(number)
    if (part === undefined) refuse(response, 404, 'there is no such part')
    else sendJson(response, part)
  }

  #page(query: URLSearchParams, response: ServerResponse): void {
    const page = numberIn(query, 'page', response)
    if (page === undefined) return
    const atMs = numberIn(query, 'at', response)
    if (atMs === undefined) return
    const known = this.#session.page(query.get('region') ?? '', page, atMs)
    if (known === undefined) refuse(response, 404, 'there is no such page')
    else sendJson(response, known)
  }
}
