/** What is not called with bad arguments, and why. */
export const excluded: readonly { readonly names: RegExp; readonly reason: string }[] = [
  { names: /^new (?!ServiceError)\w*Error$/, reason: 'Aether makes its errors, and programs catch them' },
  { names: /^Codec\.(decode|adopt)$/, reason: 'structures call it, with the bytes that encode() returned' },
  { names: /^(EndpointHandlers\.\w+|Loan\.onOver)$/, reason: 'programs write it, and Aether calls it' },
]

export const isExcluded = (name: string): boolean => excluded.some(({ names }) => names.test(name))

/** Export paths for which recipes/ does not say yet how to call them, and what they would need. */
export const doorsWithoutRecipes: Readonly<Record<string, string>> = {
  './cm': 'needs recipes: a listener and connections that calls may break',
  './rpc': 'needs recipes: a server, a channel and services',
  './testing': 'needs recipes: conformance suites that end early, and a simulated cluster',
}
