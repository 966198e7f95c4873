import { readlinkSync } from 'node:fs'

let namespace: string | undefined

/** The number of this process's pid namespace: process numbers have a meaning only within one. */
export function pidNamespace(): string {
  namespace ??= /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0'
  return namespace
}
