import type { PageFrame } from '../src/dashboard/wire.ts'

/** Where the page gets what it shows. */
export interface Source {
  /** From now on also the pages of that region. */
  choose(region: string | undefined): void
  /** All that is known of a page of memory. */
  askPage(region: string, page: number): Promise<PageFrame | undefined>
  /** Milliseconds by which what moves goes on: time itself, or that of a recording. */
  clockMs(nowMs: number): number
  /** Once a picture of the screen. */
  tick?(nowMs: number): void
}

/** Letters of a refusal that are shown: it may be a page of whatever is between. */
const REFUSAL_MAX = 200

/** Why the server does not answer; undefined where it does, or cannot be reached. */
export async function refusalOf(path: string): Promise<string | undefined> {
  const end = new AbortController()
  try {
    const answer = await fetch(path, { signal: end.signal })
    return answer.ok ? undefined : (await answer.text()).trim().slice(0, REFUSAL_MAX)
  } catch {
    return undefined
  } finally {
    end.abort()
  }
}

/** An answer of the server; undefined where there is none. */
export async function ask<T>(path: string): Promise<T | undefined> {
  const answer = await fetch(path).catch(() => undefined)
  return answer?.ok === true ? ((await answer.json()) as T) : undefined
}
