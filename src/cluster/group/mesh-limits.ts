/** The longest message of the mesh, in bytes. A home's message about a page with 250 sharers fits. */
export const MESSAGE_BYTES_MAX = 2048
/** Send requests outstanding on one link. More are kept in order by the sender. */
export const SENDS_PER_LINK = 64
/** Messages that a link receives before the sender has to wait (receiver not ready). */
export const RECEIVES_PER_LINK = 64
/** One in this many sends is signalled; its completion frees all before it. */
export const SIGNAL_EVERY = 8
/** The memory that a link registers. */
export const LINK_BYTES: number = (SENDS_PER_LINK + RECEIVES_PER_LINK) * MESSAGE_BYTES_MAX
