import { readFileSync } from 'node:fs'

/** What {@link whyUnsupported} looks at. Tests pass their own. */
export interface PlatformFacts {
  readonly platform: string
  /** `process.versions`; Bun and Deno have an entry of their own in it. */
  readonly versions: Readonly<Record<string, string | undefined>>
  /** proc(5)'s list of the files that this process has mapped; the dynamic loader is one of them. */
  readonly mappedFiles: string
}

function currentFacts(): PlatformFacts {
  let mappedFiles = ''
  try {
    mappedFiles = readFileSync('/proc/self/maps', 'latin1')
  } catch {
    // Not Linux, or no /proc here.
  }
  return { platform: process.platform, versions: process.versions, mappedFiles }
}

/**
 * Why the addon cannot work here, in one sentence; undefined if it can.
 * Asked before the addon is loaded: under Bun it would end the process.
 */
export function whyUnsupported(
  { platform, versions, mappedFiles }: PlatformFacts = currentFacts(),
): string | undefined {
  const only = 'importing works here, opening anything does not'
  if (platform !== 'linux') return `aether-dsm needs Linux (x64 or arm64) and this is ${platform}: ${only}`
  for (const [key, name] of [
    ['bun', 'Bun'],
    ['deno', 'Deno'],
  ] as const)
    if (versions[key] !== undefined)
      return `aether-dsm needs Node.js and this is ${name} ${versions[key]}, which lacks functions of libuv that the addon calls (uv_poll_init): ${only}`
  // A machine with glibc may have musl's loader installed as well, so what counts is which one this process runs on.
  if (/\/ld-musl-/.test(mappedFiles))
    return `aether-dsm needs glibc and this Node.js runs on musl (Alpine Linux): ${only}; use an image based on Debian, such as node:24-slim`
  return undefined
}
