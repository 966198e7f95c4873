import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RecordedSession } from '../session/recorded-session.ts'
import type { PageSource } from '../telling.ts'
import type { Frame, PageFrame, StructureDetailFrame } from '../wire.ts'

/** A running space for the server to show. */
export interface DashboardSource extends PageSource {
  look(): Frame
  page(region: string, page: number): PageFrame | undefined
  /** Missing for sources without structures. */
  structure?(region: string, name: string, showsContents: boolean): StructureDetailFrame | undefined
  close(): void
}

export interface DashboardOptions {
  /** A running space, or a recording. The server closes it when it is closed itself. */
  readonly source: DashboardSource | RecordedSession
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** Default 0: any free port. */
  readonly port?: number
  /** The token that a browser needs. Default: a random one. Null: none, only on loopback. */
  readonly token?: string | null
  /** Other names of the server, for example behind a proxy. */
  readonly names?: readonly string[]
  /** Returns the text of `/metrics`. Without it that path does not exist. */
  readonly metrics?: () => string
  /** Called with every look. With `always`, it looks even while no page is connected. */
  readonly onLook?: (frame: Frame) => void
  readonly always?: boolean
}

/** Answers requests that the guard has accepted. */
export interface Routes {
  /** Returns false if there is nothing at this path. */
  answer(url: URL, request: IncomingMessage, response: ServerResponse): boolean
  close(): void
}
