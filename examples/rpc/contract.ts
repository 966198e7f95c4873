/** What the library's server offers: both programs import it. */
import {
  type Bidirectional,
  bidirectional,
  type ClientStream,
  clientStream,
  defineService,
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
  },
})
