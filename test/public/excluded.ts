/** What is not called with bad arguments, and why. */
export const excluded: readonly { readonly names: RegExp; readonly reason: string }[] = [
  { names: /^new (?!ServiceError)\w*Error$/, reason: 'Aether makes its errors, and programs catch them' },
  { names: /^Codec\.(decode|adopt)$/, reason: 'structures and RPC call it, with bytes that encode() returned' },
  { names: /^ReplicatedMachine\.\w+$/, reason: 'programs write it, and Aether calls it' },
  { names: /^(EndpointHandlers\.\w+|Loan\.onOver)$/, reason: 'programs write it, and Aether calls it' },
  { names: /^SyncCallOptions\.onMetadata$/, reason: 'programs write it, and channels call it' },
  {
    names:
      /^(Creation|DataTypes|Fourier|Indexing|LinearAlgebra|Manipulation|NumpyFunctions|Products|Searching|Sets|Sorting|Statistics|Utility|Readonly)\./,
    reason: 'wrong arguments are made of the right ones in test/arrays/differential/wrong-arguments.test.ts',
  },
  { names: /^(random|sparse|Arrays)\./, reason: 'not tried yet' },
  { names: /^NdArray\.\[toPrimitive\]$/, reason: 'the language calls it, with one of three hints' },
  { names: /^ConnectionIdentifier\.onEvent$/, reason: 'programs set it, and the connection manager calls it' },
]

export const isExcluded = (name: string): boolean => excluded.some(({ names }) => names.test(name))
