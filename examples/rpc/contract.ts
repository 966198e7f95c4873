/** What the library's server offers: both programs import it. */
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

/** Types alone tell the compiler what goes in and out; a schema in place of `{}` would also be asked at run time. */
type Library = Service<
  {
    readonly borrow: Unary<{ title: string; reader: string }, Book>
    readonly catalogue: ServerStream<void, Book>
    readonly donate: ClientStream<Book, number>
    readonly ask: Bidirectional<string, string>
    /** The server reads the scan where it lies in the caller's memory. */
    readonly keepScan: RdmaCall<'source', { title: string }, void>
    /** The server writes it there, and says how long it is. */
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
