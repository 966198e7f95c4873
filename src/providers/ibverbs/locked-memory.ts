import { readFileSync } from 'node:fs'

/** The limit of locked memory, in bytes; undefined if it is unlimited or cannot be read. */
function lockedBytesMax(): number | undefined {
  try {
    const line = /^Max locked memory\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    const value = Number(line?.[1])
    return Number.isFinite(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What ENOMEM of a registration means, and how to fix it. */
export function explainUnpinnable(lengthBytes: number): string {
  const limit = lockedBytesMax()
  if (limit === undefined)
    return `${lengthBytes} bytes cannot be pinned: there is not enough memory, or the device has no more entries for it`
  return `${lengthBytes} bytes cannot be pinned: memlock is too small (${limit} bytes for everything that this process registers); raise it with ulimit -l unlimited, in /etc/security/limits.conf, or by LimitMEMLOCK=infinity of the service`
}
