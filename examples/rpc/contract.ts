/** The methods of the library's server. Server and client import them. */
import {
  type Bidirectional,
  bidirectional,
  type ClientStream,
  clientStream,
  defineService,
  type RdmaCall,
  rdmaCall,
  type ServerStream,
  type Service,
  type StandardSchema,
  serverStream,
  type,
  type Unary,
  unary,
} from 'aether-dsm/rpc'

export interface Book {
  readonly title: string
  readonly copies: number
}

/** These types are checked by the compiler only. A schema in place of `{}` would also check values at run time. */
type Library = Service<
  {
    readonly borrow: Unary<{ title: string; reader: string }, Book>
    readonly catalogue: ServerStream<void, Book>
    readonly donate: ClientStream<Book, number>
    readonly ask: Bidirectional<string, string>
    /** The server reads the scan from the caller's memory. */
    readonly keepScan: RdmaCall<'source', { title: string }, void>
    /** The server writes the scan into the caller's memory, and returns its length. */
    readonly fetchScan: RdmaCall<'target', { title: string }, number>
  },
  { readonly lent: StandardSchema<{ until: string }> }
>

export const library: Library = defineService({
  name: 'library',
  errors: { lent: type<{ until: string }>() },
  methods: {
    borrow: unary({}),
    catalogue: serverStream({}),
    donate: clientStream({}),
    ask: bidirectional({}),
    keepScan: rdmaCall({ buffers: 'source' }),
    fetchScan: rdmaCall({ buffers: 'target' }),
  },
})
