import type { PageFrame, StructureDetailFrame } from '../src/dashboard/wire.ts'

/** The source of what the page shows. */
export interface Source {
  /** From now on send the pages of this region. */
  choose(region: string | undefined): void
  /** All that is known of a page of memory. */
  askPage(region: string, page: number): Promise<PageFrame | undefined>
  /** All that is known of a structure. Missing in a recording. */
  askStructure?(region: string, name: string): Promise<StructureDetailFrame | undefined>
  /** The clock of animations, in milliseconds: real time, or the time of a recording. */
  clockMs(nowMs: number): number
  /** Called in every animation frame. */
  tick?(nowMs: number): void
}

/** Maximum length of a refusal's text, which may be a page from a proxy. */
const REFUSAL_MAX = 200

/** Why the server refuses; undefined if it does not, or cannot be reached. */
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

/** The server's answer; undefined if there is none. */
export async function ask<T>(path: string): Promise<T | undefined> {
  const answer = await fetch(path).catch(() => undefined)
  return answer?.ok === true ? ((await answer.json()) as T) : undefined
}
