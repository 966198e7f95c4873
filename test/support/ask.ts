import { type IncomingHttpHeaders, request } from 'node:http'

/** What a server on loopback answered. */
export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** A request with any header, Host and Origin too, which fetch() keeps to itself. */
export interface Question {
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly body?: string
}

/** Ask the server at a port of 127.0.0.1. */
export function ask(port: number, path: string, question: Question = {}): Promise<Answer> {
  const { headers = {}, method = 'GET', body } = question
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
