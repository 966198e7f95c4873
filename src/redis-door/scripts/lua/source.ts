/** Tokens of Lua that may hold what is written otherwise in Lua 5.1. */
const TOKEN =
  /--\[(=*)\[[\s\S]*?\]\1\]|--[^\n]*|\[(=*)\[[\s\S]*?\]\2\]|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'|[A-Za-z_]\w*|0[xX][\dA-Fa-f.]*(?:[pP][+-]?\d+)?|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?/g
/** Escapes that mean the same in both. */
const KNOWN_ESCAPE = /^[abfnrtv\\"'\n\r\d]$/

/**
 * A script of Lua 5.1, as latin1, for Lua 5.4.
 *
 * - All numbers of 5.1 are doubles, so those that are written without a point become such.
 * - What is no escape in a string of 5.1 stands for itself. 5.4 has more of them, and refuses others.
 */
export function sourceFor54(script: string): string {
  return script.replace(TOKEN, (token) => {
    const first = token[0]!
    if (first === '"' || first === "'") return token.includes('\\') ? withoutEscapes(token) : token
    if (/^0[xX][\dA-Fa-f]+$/.test(token)) return asDouble(token)
    return /^\d+$/.test(token) ? `${token}e0` : token
  })
}

function asDouble(hexadecimal: string): string {
  const text = String(Number(BigInt(hexadecimal)))
  return text.includes('e') ? text : `${text}e0`
}

function withoutEscapes(literal: string): string {
  return literal.replace(/\\([\s\S])/g, (written, character: string) =>
    KNOWN_ESCAPE.test(character) ? written : character,
  )
}
