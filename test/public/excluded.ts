/** What is not called with bad arguments, and why. */
export const excluded: readonly { readonly names: RegExp; readonly reason: string }[] = [
  { names: /^new (?!ServiceError)\w*Error$/, reason: 'Aether makes its errors, and programs catch them' },
  { names: /^Codec\.(decode|adopt)$/, reason: 'structures call it, with the bytes that encode() returned' },
]

export const isExcluded = (name: string): boolean => excluded.some(({ names }) => names.test(name))
