import type { ServerResponse } from 'node:http'

/** Send these bytes as the whole answer. */
export function send(response: ServerResponse, type: string, bytes: Buffer): void {
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': bytes.length }).end(bytes)
}

export function sendJson(response: ServerResponse, value: unknown): void {
  send(response, 'application/json', Buffer.from(JSON.stringify(value)))
}

/** Send the reason of a refusal, and close the connection. */
export function refuse(response: ServerResponse, status: number, reason: string): void {
  const text = Buffer.from(`${reason}\n`)
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': text.length,
    Connection: 'close',
  })
  response.end(text)
}

/** A whole number in a query. For anything else the request is refused, and the result is undefined. */
export function numberIn(query: URLSearchParams, name: string, response: ServerResponse): number | undefined {
  const text = query.get(name) ?? ''
  if (/^\d{1,10}$/.test(text)) return Number(text)
  refuse(response, 400, `'${name}' must be a whole number`)
  return undefined
}
