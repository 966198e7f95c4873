import { createHash, timingSafeEqual } from 'node:crypto'

/** A password as users keep it: SHA-256, in hexadecimal. Text is latin1. */
export function hashOf(password: string): string {
  return createHash('sha256').update(Buffer.from(password, 'latin1')).digest('hex')
}

/** It takes as long whether they are equal or not, and wherever they differ. */
export function hasPassword(hashes: ReadonlySet<string>, password: string): boolean {
  const given = Buffer.from(hashOf(password))
  let isOne = false
  for (const hash of hashes) if (timingSafeEqual(Buffer.from(hash), given)) isOne = true
  return isOne
}
