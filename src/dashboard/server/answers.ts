import type { ServerResponse } from 'node:http'

/** Answer with all of it. */
export function send(response: ServerResponse, type: string, bytes: Buffer): void {
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes)
}

export function sendJson(response: ServerResponse, value: unknown): void {
  send(response, 'application/json', Buffer.from(JSON.stringify(value)))
}

/** Say why not, and hang up. */
export function refuse(response: ServerResponse, status: number, reason: string): void {
  const text = Buffer.from(`${reason}\n`)
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': text.length,
    Connection: 'close',
  })
  response.end(text)
}

/** A whole number of a query, as people write one; undefined (and refused) for anything else. */
export function numberIn(query: URLSearchParams, name: string, response: ServerResponse): number | undefined {
  const text = query.get(name) ?? ''
  if (/^\d{1,10}$/.test(text)) return Number(text)
  refuse(response, 400, `'${name}' is a whole number`)
  return undefined
}
