/** Longer texts are cut. */
const TEXT_MAX = 200
/** Longer lists are cut. */
const LIST_MAX = 16
/** No room publishes such fields; if one does, the value is not written. */
const hidden = /^(local|remote)?(key|secret|password|token|payload|data|privatedata|authorization)$/i

/**
 * Return the printable part of a field: numbers, booleans, strings of bounded length, short lists of those. For bytes
 * and objects only what they are.
 */
export function traceValue(name: string, value: unknown): number | string | boolean | null {
  return hidden.test(name) ? '[hidden]' : plain(value)
}

function plain(value: unknown): number | string | boolean | null {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? value : String(value)
    case 'boolean':
      return value
    case 'bigint':
      return String(value)
    case 'string':
      return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}…` : value
    default:
      return value === undefined || value === null ? null : named(value)
  }
}

function named(value: object | symbol): string {
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (!Array.isArray(value)) return '[object]'
  const shown = value.slice(0, LIST_MAX).map((each) => String(plain(each)))
  return shown.join(',') + (value.length > LIST_MAX ? ',…' : '')
}
