/**
 * What a work request on a send queue asks for; the numbers of `enum ibv_wr_opcode`. ConfigureIndirectKey is
 * `IBV_WR_DRIVER1`, as mlx5 uses it. The masked atomics have no numbers in user space; these are the device's: 0x14 and
 * 0x15.
 */
export const Opcode = {
  Write: 0,
  WriteWithImmediate: 1,
  Send: 2,
  SendWithImmediate: 3,
  Read: 4,
  CompareSwap: 5,
  FetchAdd: 6,
  LocalInvalidate: 7,
  BindMemoryWindow: 8,
  SendWithInvalidate: 9,
  ConfigureIndirectKey: 11,
  MaskedCompareSwap: 20,
  MaskedFetchAdd: 21,
} as const
export type Opcode = (typeof Opcode)[keyof typeof Opcode]

/** What a completion completes; the numbers of `enum ibv_wc_opcode`. */
export const CompletionOpcode = {
  Send: 0,
  Write: 1,
  Read: 2,
  CompareSwap: 3,
  FetchAdd: 4,
  BindMemoryWindow: 5,
  LocalInvalidate: 6,
  Receive: 128,
  ReceiveWriteWithImmediate: 129,
  ConfigureIndirectKey: 135,
} as const
export type CompletionOpcode = (typeof CompletionOpcode)[keyof typeof CompletionOpcode]

/** Bits of a send request's flags; those of `enum ibv_send_flags`. */
export const RequestFlag = { Fence: 1, Signaled: 2, Solicited: 4, Inline: 8 } as const

/** Bits of a completion's flags; those of `enum ibv_wc_flags`. */
export const CompletionFlag = { GlobalRoute: 1, WithImmediate: 2, WithInvalidate: 8 } as const

/** The completion opcode of each request opcode, by its number. */
export const completionOpcodeOf: Uint8Array = Uint8Array.of(
  ...[1, 1, 0, 0, 2, 3, 4, 6, 5, 0],
  ...[0, 135, 0, 0, 0, 0, 0, 0, 0, 0],
  ...[3, 4],
)
