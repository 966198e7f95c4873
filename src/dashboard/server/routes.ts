import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RecordedSession } from '../session/recorded-session.ts'
import type { PageSource } from '../telling.ts'
import type { Frame, PageFrame } from '../wire.ts'

/** What the server shows while it runs. */
export interface DashboardSource extends PageSource {
  look(): Frame
  page(region: string, page: number): PageFrame | undefined
  close(): void
}

export interface DashboardOptions {
  /** What runs now, or a recording; the server closes it with itself. */
  readonly source: DashboardSource | RecordedSession
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** Default 0: any that is free. */
  readonly port?: number
  /** What a browser has to show; default a random one; null: nothing, on loopback only. */
  readonly token?: string | null
  /** Names by which the server may be called, where it is behind another. */
  readonly names?: readonly string[]
  /** The text at `/metrics`; without it there is none. */
  readonly metrics?: () => string
  /** Told of every look, also while nobody listens where `always` is set. */
  readonly onLook?: (frame: Frame) => void
  readonly always?: boolean
}

/** Answers what the guard has let through. */
export interface Routes {
  /** False where there is nothing at this path. */
  answer(url: URL, request: IncomingMessage, response: ServerResponse): boolean
  close(): void
}
