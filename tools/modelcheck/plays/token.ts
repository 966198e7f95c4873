/** Written by `node scripts/protocol-plays.mjs`: see recorded-plays.ts. */
export const token: string = `
2 nodes: 1 load
  cache I/Load -> IS: requestShared
  - sends GetShared to 0, bytes at 1
  copy: I -> IS

2 nodes: 1 store
  cache I/Store -> IM: requestModified
  - sends GetModified to 0, bytes at 1
  copy: I -> IM

2 nodes: 1 store, 1>0, 0 store
  cache I/Store -> IM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  - sends ForwardModified to 1, bytes at 0
  cache IM/Asked -> IM_A
  copy: I -> IM_A
  copy waits for: 0 -> 1, granted
  home has owner: 1 -> none
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 1 evict, 0>1, 1>0, 0>1, 1>0, 2>0, 1>0, 0 run the reader, 0 store
  cache I/Store -> IM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  cache IM/AnsweredShort -> IM_P: activateModified
  - sends ActivateModified to 1, bytes at 0
  - sends ActivateModified to 2, bytes at 0
  directory H/ActivateModified -> H: expectAlone
  copy: I -> IM_P
  starving: none -> 0 to write
  home has changed owners 2 times more

3 nodes: 2 load, 2 store, 1 store, 1>0, 0>1, 2>0, 0>1, 1 run the writer, 0>2, 1 evict, 0>1, 1>2, 1>0, 2 run the writer, 2>0, 0>1, 1>0, 0>1, 0>2, 0>1, 1>2, 0>2, 2>1, 0 store, 0>1, 0>2, 1 load, 1>0, 1 store, 2>0, 2>0, 0>2, 0>1, 0 run the writer, 0 store, 0>1, 0>1, 1>0, 1>2, 1>0, 0>2, 2>1, 1>2, 2>0, 2 run the reader, 0>2, 2 load, 2>0, 2>1, 0>1, 1 run the writer, 2>0, 0>2, 0 load, 2>0 without memory, 1>0, 0>1, 0>2, 2 store, 1>0, 0 run the reader, 2 load, 2>0, 0>2, 0>2, 2 run the reader, 0 load, 2>1, 1>2, 2>1, 0>2, 1>0 without memory, 2>0, 0>1, 0>1, 1 evict
  cache I/Evict -> EI_A: returnTokens
  - sends PutTokens (1) to 0
  copy: I -> EI_A
  tokens: 1, the bytes -> 0

3 nodes: 1 load, 1>0, 0>1, 2 store, 1 store, 0>1, 2>0, 0>2, 2 load, 1 run the reader, 1 evict, 0 load, 0>1, 0>2, 0>2, 1 run the writer, 1>0, 0>1, 1>0, 1>2, 0>1, 2>1, 0>2, 0 store, 2>0, 0>2, 2>0, 2 run the writer, 0>2, 2>0, 0 run the writer, 0>2, 2>0, 2>1, 1>2, 0>1, 0>1, 1>0, 0>2, 2 run the reader, 2>0, 0>2, 2>1, 1>0, 1>0, 0>2, 0 run the reader, 0>2, 2>1, 2>0, 2>0, 0>1, 2 store, 0>1, 1 run the writer, 1 store, 1>2, 1>2, 1>2, 2 run the writer, 2>1, 2>0, 0>2, 2>1, 1>2, 2>0, 0>2, 0>2, 0>1, 1>2, 2 run the writer, 2 evict, 2>0, 1>0, 0>2, 2>0, 0>1, 1>0, 0>1, 1>0 without memory, 0>1, 1 evict
  cache I/EvictOwner -> OI_A: offerTokens
  - sends PutOffer to 0
  copy: I -> OI_A

2 nodes: 1 evict
  cache I/EvictNothing -> I: evicted
  - gives its frame back

3 nodes: 2 store, 1 store, 1>0, 0>1, 0 load, 0 store, 0>1, 2 load, 1 run the writer, 1 evict, 0>1, 1 load, 1>0, 2>0, 1 store, 0>2, 0>1, 0>1, 1>2, 1>0, 0 run the writer, 1>0, 0>1, 1>0, 0>1, 0>2, 0>2, 2>1, 2>0, 0>2, 2>0, 2 run the reader, 2>0, 0>2, 2 load, 0 run the writer, 0>1, 1 run the writer, 1 run the reader, 2>1, 1>2, 1>2, 2>0 without memory, 1>0, 0>2, 0>2
  cache I/ForwardShared -> I: answerShared
  - writes its bytes to 1
  - sends AnswerData (1) for 1 to 1
  tokens: 3, the owner token, the bytes -> 2, the owner token, the bytes

3 nodes: 1 store, 2 store, 1>0, 0>1, 0 load, 0 store, 0>1, 2 load, 1 run the writer, 1 evict, 0>1, 1 load, 1>0, 2>0, 1 store, 0>2, 0>1, 0>1, 1>2, 1>0, 0 run the writer, 1>0, 0>1, 1>0, 0>1, 0>2, 0>2, 2>1, 2>0, 0>2, 2>0, 2 run the reader, 2>0, 0>2, 2 load, 0 run the writer, 0>1, 0 run the reader, 1 run the writer, 1 run the reader, 2>1, 1>2, 1>2, 0>2, 2>0 without memory, 1>0, 0>2, 0>1, 0>2, 2>1, 1 run the reader, 1 evict, 1 load, 1>0, 0>1, 1>0, 0>2
  cache I/ForwardSharedLast -> I: answerAll
  - writes its bytes to 1
  - sends AnswerOwner (1) for 1 to 1
  tokens: 1, the owner token, the bytes -> 0

3 nodes: 2 store, 2>0, 0>2, 2 load, 1 store, 1>0, 0>1, 0>2, 0>2, 1 load, 2 run the reader, 2>1, 0>1, 2 load, 2>0, 0>2, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 1>2, 2 run the writer, 1 store, 2>0, 0>2, 0>1, 1>0, 0 store, 0>2, 0>1, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 0>2, 2>0, 1>0, 0>1, 1>0, 0>1, 1 run the writer, 0 load, 0 store, 0>1, 1>0, 0 run the writer, 1 store, 0>1, 1>0, 0>1, 1>2, 2>1, 2>0, 1>0, 0>1, 0>2, 0>2, 2>0, 0 run the reader, 0 load, 0>1, 0>2, 0>1, 1>2, 2>0, 0>2, 2>1, 1>2, 2 run the writer, 2 run the reader, 2 store, 2>0, 0>2, 2>0, 0>2, 0>2, 1>0, 0>1, 0>2, 1>0, 2>1, 1>2, 2>0, 2>1, 2>1, 1 run the reader, 1>0, 1>0, 0 run the reader, 0>1, 1 run the writer, 0>2, 0>1, 1>0, 0>1, 1>0, 0>2, 2>1, 0>1, 0>2, 2 run the writer, 2>1, 1 run the writer, 1 evict, 1>0, 0>1, 1>0, 1 load, 0>1, 0>2, 1>0, 0>1, 0>1, 1>2, 2>0, 2>0, 0>2, 2>0 without memory, 0>2, 1>2
  cache I/StarvingShared -> I: yieldOwner
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  tokens: 2, the owner token, the bytes -> 1, the bytes
  starving: none -> 1 to read

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 0>1, 0>2, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2, 2 run the writer, 2>0, 0>2
  cache I/AckMore -> I
  copy waits for: 2 -> 1

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 0>1, 0>2, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2, 2 run the writer, 2>0, 0>2, 2>1, 2>1, 1>2
  cache I/AckLast -> I
  copy waits for: 1 -> 0

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 late load
  cache S/Load -> S: mapReadOnly
  - maps to read

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 store
  cache S/Store -> SM: requestModified
  - sends GetModified to 0, bytes at 1
  copy: S -> SM

3 nodes: 1 store, 1 load, 1>0, 0 load, 0>1, 0 store, 0>1, 0>1, 2 load, 2>0, 0>1, 1 run the reader, 0>2, 1>2, 2 run the reader, 2 evict, 2>0, 0>2, 2 load, 1>0, 2>0, 0 run the writer
  cache S/Store -> SM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  - sends ForwardModified to 2, bytes at 0
  - sends ForwardModified to 1, bytes at 0
  cache SM/ForwardShared -> SM: answerShared
  - writes its bytes to 2
  - sends AnswerData (1) for 2 to 2
  cache SM/Asked -> SM_A
  copy: S -> SM_A
  copy waits for: 0 -> 2, granted
  tokens: 2, the bytes -> 1, the bytes
  home has owner: 1 -> none
  home has sharers: 2 -> none
  put off: ForwardShared for 2 -> none
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 2>0, 0 load, 0>1, 0>2, 0>2, 0>2, 1>2, 2>0, 1>0, 0>2, 2 run the writer, 2>0, 2>0, 0 store
  cache S/Store -> SM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  cache SM/AnsweredShared -> SM_P: activateModified
  - sends ActivateModified to 1, bytes at 0
  - sends ActivateModified to 2, bytes at 0
  directory H/ActivateModified -> H: expectAlone
  copy: S -> SM_P
  starving: none -> 0 to write
  home has changed owners 2 times more

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 run the reader, 1 evict
  cache S/Evict -> EI_A: unmap, returnTokens
  - unmaps
  - sends PutTokens (1) to 0
  copy: S -> EI_A
  tokens: 1, the bytes -> 0

2 nodes: 1 load, 1>0, 0 store, 0>1, 0>1, 1 run the reader, 0>1
  cache S/ForwardModified -> I: unmap, answerAll
  - unmaps
  - sends Answer (1) for 0 to 0
  copy: S -> I
  tokens: 1, the bytes -> 0

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1 load, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>0, 0>1, 1>0, 0>1, 0>1, 1 run the reader, 1>2, 2>1
  cache S/StarvingModified -> I: unmap, yieldAll
  - unmaps
  - sends Tokens (1) for 2 to 2
  copy: S -> I
  tokens: 1, the bytes -> 0
  starving: none -> 2 to write

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>2, 2>0, 1>0, 0 load, 0>2, 2 run the writer, 0>2, 2>0, 0>2
  cache S/AckMore -> S
  copy waits for: 2 -> 1

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>2, 2>0, 1>0, 0 load, 0>2, 2 run the writer, 0>2, 2>0, 0>2, 2>1, 2>1, 1>2
  cache S/AckLast -> S
  copy waits for: 1 -> 0

2 nodes: 1 load, 1>0, 0 late load
  cache O/Load -> O: mapReadOnly
  - maps to read

2 nodes: 1 load, 1>0, 0 store
  cache O/Store -> OM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  - sends ForwardModified to 1, bytes at 0
  cache OM/Asked -> SM_A
  copy: O -> SM_A
  copy waits for: 0 -> 1, granted
  home has sharers: 1 -> none
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 1 evict, 0>1, 1>0, 0>1, 1>0, 0 run the reader, 2>0, 1>0, 0 store
  cache O/Store -> OM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  cache OM/AnsweredOwner -> SM_P: activateModified
  - sends ActivateModified to 1, bytes at 0
  - sends ActivateModified to 2, bytes at 0
  directory H/ActivateModified -> H: expectAlone
  copy: O -> SM_P
  starving: none -> 0 to write
  home has changed owners 2 times more

3 nodes: 2 store, 2>0, 0 load, 0 store, 2 load, 0>2, 0>2, 1 store, 1>0, 0>2, 0>1, 1 load, 0>2, 2 run the writer, 2>1, 2>0, 0 run the reader, 2 store, 0>1, 1 run the writer, 0 load, 1 evict, 1>0, 2>0, 0>2, 0>1, 1>0, 0 run the reader, 0 load, 0>2, 0>2, 0>1, 0>1, 1 store, 1>0, 0>1, 1>0, 0>1, 1>2, 2>1, 2>0, 0>2, 2 run the reader, 2>1, 2>0, 2>0, 0 run the writer, 0>1, 1>2, 0>2, 2 run the writer, 2>0, 0>2, 0>2, 2>0, 0>1, 1>0, 1>2, 1>0, 0 run the writer, 0 run the reader, 0>1, 0>1, 1 run the reader, 1>2, 2>1, 0>2, 0>2, 0>2, 2>1, 1>2, 2>0, 2 run the writer, 2>1, 1>2, 2>0, 2>0, 0>2, 2 evict, 2 store, 2>0, 0>2, 2>0, 0>1, 0>2, 1>0, 2>0, 0>2, 1>0, 0>2, 0>1, 0>1, 1 evict, 1 load, 1>0, 0>1, 0 run the reader, 0 load, 1>0, 0>1, 1>0, 0>2, 1>0, 0>1, 2>0, 0>1, 0>1, 1>2, 0>2, 2>1, 2>1, 1 run the writer
  cache O/Store -> OM: requestModified
  cache OM/StarvingSharedLast -> IM: unmap, yieldAll
  - unmaps
  - writes its bytes to 0
  - sends TokensOwner (1) for 0 to 0
  copy: O -> IM
  tokens: 1, the owner token, the bytes -> 0

2 nodes: 1 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 0>1, 1 evict
  cache O/EvictOwner -> OI_A: unmap, offerTokens
  - unmaps
  - sends PutOffer to 0
  copy: O -> OI_A

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 1>0, 0>1, 0>2, 2>1, 1 run the reader, 1 evict, 1 load, 1>0, 0>1, 1>0, 0>2
  cache O/ForwardSharedLast -> I: unmap, answerAll
  - unmaps
  - writes its bytes to 1
  - sends AnswerOwner (1) for 1 to 1
  copy: O -> I
  tokens: 1, the owner token, the bytes -> 0

4 nodes: 1 store, 1>0, 1 load, 0>1, 0>1, 1 run the writer, 1 evict, 0 load, 1 store, 0>1, 1>0, 3 store, 0>1, 0 store, 3>0, 2 load, 2 store, 1>0, 0>3, 0 run the reader, 0 run the writer, 0>1, 1>0, 2>0, 0>1, 0>2, 1>3, 1>0, 0>1, 0>2, 0>3, 3>1, 3>2, 0>3, 0 load, 3>0, 0>3, 3>0, 3>1, 0>3, 1>3, 3 run the writer, 3 load, 3>0, 0 run the reader, 3 store, 3>2, 2>3, 0>1, 0 load, 0>3, 3>0, 0>2, 3>0, 0>1, 1>0, 0>1, 0 run the reader, 1>0, 0>2, 0>2, 2>0, 0>3, 2 run the writer, 0>3, 0>3, 0>3, 3 run the writer, 0 run the writer, 3>0, 2>1, 2>0, 1>2, 0>2, 3>0, 1>0, 0>1, 0>2, 1>3, 0>3, 0>3, 3>1, 1 run the reader, 0 load, 3>0, 0>1, 0>3, 1>2, 2>1, 1>0, 1 load, 0>1, 0>2, 1>0, 0>1, 0 run the reader, 0>2, 0>2, 0 run the writer, 0 load, 0>3, 3>0, 1>0, 2>0, 2 run the writer, 0>3, 2 store, 2>0, 0>3, 0>1, 0>2, 0>2, 2>3, 3 run the writer, 3 run the reader, 1>3, 3>1, 3>0, 1>0, 3>0, 0>2, 0>2, 0 run the reader, 0>2, 0>2, 2 run the reader, 2>3, 0>3, 2>1, 0>3, 3>2, 0>1, 0>1, 2>3, 3 run the reader, 1>3
  cache O/StarvingSharedLast -> I: unmap, yieldAll
  - unmaps
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  copy: O -> I
  tokens: 1, the owner token, the bytes -> 0
  starving: none -> 1 to read

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>1, 0>2, 2>0, 2>1, 1>0, 0>1, 1>0, 0>1
  cache O/AckMore -> O
  copy waits for: 2 -> 1

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>1, 0>2, 2>0, 2>1, 1>0, 0>1, 1>0, 0>1, 1>2, 1>2, 2>1
  cache O/AckLast -> O
  copy waits for: 1 -> 0

2 nodes: 0 load
  cache M/Load -> M: mapWritable
  - maps to write

2 nodes: 0 store
  cache M/Store -> M: mapWritable
  - maps to write

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict
  cache M/EvictOwner -> OI_A: unmap, offerTokens
  - unmaps
  - sends PutOffer to 0
  copy: M -> OI_A

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0>1, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2, 2>0, 0>2
  cache M/AckMore -> M
  copy waits for: 2 -> 1

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0>1, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2, 2>0, 0>2, 2>1, 2>1, 1>2
  cache M/AckLast -> M
  copy waits for: 1 -> 0

2 nodes: 1 load, 1 load
  cache IS/Load -> IS

2 nodes: 1 load, 1 store
  cache IS/Store -> IS

2 nodes: 1 load, 1>0, 0>1
  cache IS/Asked -> IS_A
  copy: IS -> IS_A
  copy waits for: 0 -> 1, granted

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 1>0, 0>2, 2>1
  cache IS/AnswerMore -> IS
  copy waits for: 0 -> -1
  tokens: 0 -> 1, the bytes

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 1>0, 0>1, 0>2, 2>1, 1 run the reader, 1 evict, 1 load, 1>0, 0>1, 1>0, 0>2, 2>1, 0>1
  cache IS/AnsweredOwner -> O: mapReadOnly
  - maps to read
  copy: IS -> O
  copy waits for: -1 -> 0

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 1>0, 0>2, 2>1, 0>1
  cache IS/AnsweredShared -> S: mapReadOnly
  - maps to read
  copy: IS -> S
  copy waits for: -1 -> 0

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>2, 2>1, 0>1
  cache IS/AnsweredShort -> IS_P: activateShared
  - sends ActivateShared to 0, bytes at 1
  - sends ActivateShared to 2, bytes at 1
  copy: IS -> IS_P
  copy waits for: -1 -> 0
  starving: none -> 1 to read

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 0>1, 0>2, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2, 2 run the writer, 2 load, 2>0, 0>2
  cache IS/AckMore -> IS
  copy waits for: 2 -> 1

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 0>1, 0>2, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2, 2 run the writer, 2 load, 2>0, 0>2, 2>1, 2>1, 1>2
  cache IS/AckLast -> IS: requestShared
  - sends GetShared to 0, bytes at 2
  copy waits for: 1 -> 0

3 nodes: 2 store, 2>0, 0>2, 2 load, 0>2, 2 run the reader, 1 store, 1>0, 1 load, 0>1, 0>2, 2>1, 0>1, 1 run the reader, 1 evict, 1>0, 0>1, 1>0, 0>1, 2 load, 2>0, 0>2, 0 store, 1 run the writer, 0>2, 2 run the reader, 2 evict, 2 run the writer, 1>0, 0>2, 2>0, 0>2, 2 load, 0>1, 2>0, 0 run the writer, 0 load, 0>1, 0>1, 1 run the writer, 1>0, 0 run the reader, 1 evict, 1 store, 1>0, 2>0, 0>1, 1>0, 0>2, 0>2, 0>1, 1>2, 2>1, 0 store, 0>1, 2>0, 1>0, 0>2, 2>0, 0>2, 0>2, 2>0, 0 run the writer, 0 load, 0>1, 0>1, 0>2, 2>1, 2 run the reader, 2>1, 2>0, 1>0, 0>1, 1>0
  cache IS/AckLast -> IS: requestShared
  directory H/GetShared -> H: askHolder, addSharer
  cache IS/AnsweredAll -> M: mapWritable
  - maps to write
  copy: IS -> M
  copy waits for: 1 -> 0

3 nodes: 1 store, 2 store, 1>0, 0>1, 0 store, 2>0, 2 load, 0>2, 0>1, 0>1, 0 load, 1 run the writer, 1>0, 0 run the reader, 0>2, 2 run the reader, 0 load, 0>2, 2 evict, 2>0, 1 store, 2>0, 0>2, 1>0, 0>2, 2 run the writer, 0 run the writer, 0>1, 0>1, 0>1, 2>1, 1>2, 1>0, 1 load, 2>0, 0>1, 1 run the writer, 1>0, 0>2, 1 run the reader, 0>1, 2>0, 2 load, 0>2, 1>0, 0 run the reader, 0 load, 0>2, 2 run the reader, 0>2, 2 load, 2>1, 2>0, 2>0, 0>2, 0>2, 0>1, 1>0, 0 run the writer, 0>2, 0>2, 2 run the reader, 2>1
  cache IS/TokensShared -> IS
  tokens: 1, the bytes -> 2, the bytes

3 nodes: 1 load, 1>0, 0>1, 2 store, 1 store, 0>1, 2>0, 0>2, 2 load, 1 run the reader, 1 evict, 0 load, 0>1, 0>2, 0>2, 1 run the writer, 1>0, 0>1, 1>0, 1>2, 0>1, 2>1, 0>2, 0 store, 2>0, 0>2, 2>0, 2 run the writer, 0>2, 2>0, 0 run the writer, 0>2, 2>0, 2>1, 1>2, 0>1, 0>1, 1>0, 0>2, 2 run the reader, 2>0, 0>2, 2>1, 1>0, 1 load, 1>0, 0>1, 0 run the writer, 1>0, 0>1, 1 run the reader, 1>0, 0 store, 0>1, 2 store, 0>2, 2>0, 0>1, 1 load, 1>0, 0 run the writer, 0>2, 1>2, 2>0, 0>2, 2>1, 2 run the writer, 2>1, 2>1
  cache IS/TokensOwner -> IS
  tokens: 0 -> 2, the owner token, the bytes

3 nodes: 2 load, 2 store, 2>0, 1 load, 1>0, 1 store, 0>2, 0>1, 0>1, 1 run the reader, 0 store, 0>1, 0>2, 2 run the writer, 2>0, 1>0, 0>2, 0>2, 2>0, 0 run the writer, 0>2, 2 run the writer, 2 evict, 2 store, 0 load, 0>2, 2>0, 0 store, 1 run the writer, 0>2, 1>0, 2>0, 0 run the reader, 0 load, 0>2, 0>1, 2>1, 2>0, 0>2, 2>0, 0>2, 0>1, 1>2, 1>0, 0>1, 0>1, 1>0, 0>1, 1 run the writer, 1>2, 2>1, 1>0, 0 run the writer, 0>1, 1>0, 0>1, 1 load, 1>0, 0>2, 0>1, 2>0, 2>1, 0>2, 2>0, 0>1, 0>2, 0 run the writer, 2>0, 0>1, 0 run the reader, 1>0, 1>0, 1>2, 0>2, 0>2, 2 run the writer, 2 store, 2>0, 0>2, 2>0, 0>1, 2>1, 0>2, 1>2, 2>0, 0>1, 0>2, 2>1, 1 run the reader, 1>0, 1 load, 1>0, 0>2, 0 run the reader, 0>2, 2>1
  cache IS/TokensOwner -> IS
  cache IS/StarvingSharedLast -> IS: yieldAll
  - writes its bytes to 0
  - sends TokensOwner (1) for 0 to 0

3 nodes: 1 store, 1>0, 0>1, 0 store, 0 load, 2 store, 2>0, 0>2, 1 load, 0>1, 0>1, 1 run the reader, 1>0, 0 run the reader, 0>2, 2 run the writer, 2 evict, 2 store, 2>0, 0>2, 1 run the writer, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2>0, 0>1, 0>1, 1>2, 1>0, 0>1, 1>0, 1 run the writer, 0>1, 1>0, 0 run the writer, 0 store, 0>1, 1>0, 0>2, 0>2, 0>1, 2 run the writer, 1 load, 2>1
  cache IS/TokensAll -> IS
  cache IS/StarvingModified -> IS: yieldAll
  - writes its bytes to 0
  - sends TokensOwner (3) for 0 to 0

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 1 load, 2>0, 0 store, 0>1, 0>2, 0>2, 0>2, 1>0, 0>1, 1>2, 2>0, 0>2, 2 run the writer, 2 load, 1>0, 0>2
  cache IS/ForwardMiss -> IS: answerNothing
  - sends Answer for 1 to 1

3 nodes: 1 load, 1>0, 0>1, 1 store, 0>1, 1 run the writer, 1>0, 0>1, 0>1, 0 load, 1 run the reader, 1 evict, 0>1, 1 run the writer, 1>0, 0 store, 0>1, 1>0, 0 run the reader, 0 run the writer, 2 store, 0>1, 2>0, 0>2, 1>0, 2 load, 1>0, 0>1, 1>0, 0>1, 0 run the writer, 0>1, 0 load, 1>0, 0>2, 2 run the writer, 0 store, 2 evict, 0>1, 2>0, 0>2, 2>0, 2 run the reader, 0>2, 0>1, 2>0, 1 run the writer, 0>2, 1>0, 0>1, 1>0, 0 run the writer, 0>2, 0>2, 1>2, 1 store, 1>2, 2>0, 0 run the reader, 2>1, 2>1, 1>0, 0>1, 1>2, 2>1, 2 run the reader, 1>2, 2>0, 2>0, 0>2, 0>2, 0>2, 0>1, 1>0, 2 store, 2>0, 0>2, 0>1, 0>2, 0 run the writer, 2 load, 1>0, 0>1, 2>1, 1 run the writer, 1 evict, 2>0, 1 store, 0>2, 2>0, 1 load, 1>0, 0>1, 1>0, 2>1, 0 load, 0>1, 1>0, 0>2, 2>1, 1>2, 0>1, 0>1, 2 run the writer, 0 store, 2>0, 0>2, 0>2, 2 store, 2>0, 0>2, 2>0, 0 run the writer, 2>0, 0>2, 0>2, 0>1, 1>0, 0>1, 0>2, 0>1, 1>0, 1>2, 2>1, 1>2, 1 run the reader, 1 load, 1>2, 2 run the writer, 2>1, 2>0, 2 run the reader, 2>0, 0 run the writer, 0>2, 0>1, 0>2, 2>1
  cache IS/StarvingShared -> IS: yieldOwner
  - writes its bytes to 2
  - sends TokensOwner (2) for 2 to 2
  tokens: 3, the owner token, the bytes -> 1, the bytes
  starving: none -> 2 to read

2 nodes: 1 load, 1>0 lost, 0>1
  cache IS/Refused -> I: fail
  - tells its program that the page cannot be had
  copy: IS -> I

2 nodes: 1 load, 1>0 without memory, 0>1
  cache IS/NoMemory -> I: fail
  - tells its program that the page cannot be had
  copy: IS -> I

2 nodes: 1 store, 1 load
  cache IM/Load -> IM

2 nodes: 1 store, 1 store
  cache IM/Store -> IM

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 2>0, 0>1, 1>2
  cache IM/AnswerMore -> IM
  copy waits for: 0 -> -1
  tokens: 0 -> 1

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 0>1, 0>2, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2, 2 run the writer, 2 store, 2>0, 0>2
  cache IM/AckMore -> IM
  copy waits for: 2 -> 1

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 0>1, 0>2, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2, 2 run the writer, 2 store, 2>0, 0>2, 2>1, 2>1, 1>2
  cache IM/AckLast -> IM: requestModified
  - sends GetModified to 0, bytes at 2
  copy waits for: 1 -> 0

3 nodes: 1 load, 1>0, 0>1, 2 store, 1 store, 0>1, 2>0, 0>2, 1 run the reader, 1 evict, 0 load, 0>1, 0>2, 0>2, 1 run the writer, 1>0, 0>1, 1>0, 1>2, 0>1, 2>1, 0>2, 0 store, 2>0, 0>2, 2 run the writer, 2>0, 2>0, 0>2, 2>1, 0 run the writer, 0>2, 2>0, 0>2, 0>1, 2>1, 1 run the writer, 1 evict, 1>2, 1>0, 0>1, 2 store, 1>0, 0>2, 2>0, 0>1, 1>0, 0 run the writer, 0>1, 0 store, 0>2, 2>0, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 2>0, 1>0
  cache IM/AckLast -> IM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  cache IM/AnsweredAll -> M: mapWritable
  - maps to write
  copy: IM -> M
  copy waits for: 1 -> 0
  home has changed owners once more

4 nodes: 1 load, 1>0, 3 store, 3>0, 0 store, 0>3, 2 load, 3 load, 2>0, 0>3, 0>3, 0>2, 0>1, 0>1, 1 run the reader, 1 evict, 0 load, 1>0, 0>1, 0>1, 1>3, 1 store, 1>0, 0>1, 0>2, 3>2, 3>0, 0>3, 3 run the reader, 3 run the writer, 3>2, 1 load, 3>0, 0>3, 3 load, 3>0, 0 run the reader, 0>1, 0 load, 0>3, 3>0, 2>3, 3>1, 0>1, 3>1, 0>2, 2 run the reader, 0>2, 2>1, 2 load, 2>0, 1>3, 1>0, 1>2, 0>2, 0>3, 3>0, 0>1, 1>0, 0 run the writer, 0>3, 0>2, 0>2, 2>1, 1>3, 3>0, 2>0, 2>3, 3>0, 2>0, 0>3, 0>1, 1>3, 0>1, 3>1, 1 run the reader, 1>2, 1>2, 2>0, 1>0, 0>2, 1>0, 0>3, 0>2, 2 run the reader, 2>0, 0 run the reader, 1>3, 0>1, 0 run the writer, 0>1, 0>1, 0>3, 3>0, 0>3, 3 run the reader, 1>0, 3>2, 0>2, 2>0, 2>0
  cache IM/AckLast -> IM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  cache IM/AnsweredOwner -> IM_P: activateModified
  - sends ActivateModified to 1, bytes at 0
  - sends ActivateModified to 2, bytes at 0
  - sends ActivateModified to 3, bytes at 0
  directory H/ActivateModified -> H: expectAlone
  copy: IM -> IM_P
  copy waits for: 1 -> 0
  starving: none -> 0 to write
  home has changed owners 2 times more

3 nodes: 2 store, 2 load, 2>0, 0>2, 0>2, 1 load, 2 run the reader, 1>0, 0>2, 0>1, 1 store, 2>1, 0 store, 0>1, 1 run the writer, 1>0, 0>2, 2 load, 2>0, 2>0, 0>1, 0>1, 0>2, 1>0, 0 run the writer, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 1>2, 2 run the writer, 1 store, 2>0, 0>2, 0>1, 1>0, 0 store, 0>2, 0>1, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 0>2, 2>0, 1>0, 0>1, 1>0, 0>1, 1 run the writer, 0 load, 0 store, 0>1, 1>0, 0 run the writer, 1 store, 0>1, 1>0, 0>1, 1>2, 2>1, 2>0, 1>0, 0>1, 0>2, 0>2, 2>0, 0 run the reader, 0 load, 0>1, 0>2, 0>1, 1>2, 2>0, 0>2, 2>1, 1>2, 2 run the writer, 2 run the reader, 2 store, 2>0, 0>2, 2>0, 0>2, 0>2, 1>0, 0>1, 0>2, 1>0, 2>1, 1>2, 2>0, 2>1, 2>1, 1 run the reader, 1>0, 1>0, 0 run the reader, 0>1, 1 run the writer, 0>2, 0>1, 1>0, 0>1, 1>0, 0>2, 2>1, 0 run the writer, 0>1, 0>2, 2 run the writer, 2>1, 1 run the writer, 1 evict, 1>0, 0>1, 1>0, 2>0
  cache IM/AckLast -> IM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  cache IM/AnsweredShared -> IM_P: activateModified
  copy: IM -> IM_P
  copy waits for: 1 -> 0
  copy waits for its turn: false -> true
  home has changed owners once more

3 nodes: 1 load, 1>0, 1 store, 0>1, 0>1, 1 run the writer, 1>0, 0>1, 0 store, 0 load, 2 store, 2>0, 0>2, 0>1, 0>1, 1 run the reader, 2 load, 1>0, 0 run the reader, 0>2, 2 run the writer, 2 evict, 2 store, 2>0, 0>2, 1 run the writer, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2>0, 0>2, 0>1, 0>1, 1>2, 1>0, 0>1, 1>0, 1>2, 1 run the writer, 0>1, 1>0, 0 run the writer, 0 store, 0>1, 1>0, 2>1, 0>2, 0>2, 0>1, 2 run the reader, 2>0, 2 run the writer, 0 run the writer, 2>0, 0 store, 0>2, 1 load, 1>0, 0>2, 0>2, 0>2, 2 run the writer, 2>1, 1>0
  cache IM/TokensBare -> IM
  tokens: 0 -> 1

3 nodes: 1 store, 1>0, 0>1, 1 load, 0 store, 0>1, 0 load, 0>1, 1 run the writer, 1>0, 0 run the reader, 1 store, 1>0, 2 load, 0 load, 0>1, 0>1, 2 store, 2>0, 0>1, 0>1, 1 run the writer, 1 store, 1>2, 1>0, 1>0, 0>1, 0 run the writer, 0>1, 0>1, 0>2, 0>2, 2 run the writer, 2>1, 2>0, 1 run the writer, 0>2, 1>0, 0 run the writer, 0 run the reader, 1 store, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 2 store, 0 store, 1>0, 0>2, 0>1, 2>0, 0 run the reader, 0>1, 0>2, 2>0, 0>2, 2>0, 0 load, 0>2, 2>1, 1>2, 1>0, 0>2, 0>2, 2>0, 2>1, 2>1, 1 run the writer, 1>0, 0>1, 1 store, 1>2, 1>2, 2 run the writer, 2>0, 2>0, 0 run the reader, 2>1, 2 store, 0 run the writer, 0>2, 1>0, 0>1, 0>2, 2>0, 0 run the writer, 0>1, 1 run the writer, 0 load, 1 run the reader, 1>0, 0>1, 0>1, 1>2, 1>0, 0>2, 2>0, 0>1, 0 run the reader, 0>1, 0>1, 1 run the reader, 1>2
  cache IM/TokensShared -> IM
  tokens: 1, the bytes -> 2, the bytes

3 nodes: 1 store, 1>0, 0>1, 0 store, 0 load, 1 load, 0>1, 0>1, 2 store, 2>0, 0>2, 2 load, 1 run the reader, 1>0, 0 run the reader, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1 run the writer, 2 run the reader, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2>0, 2 store, 0>2, 0>1, 0>1, 1>2, 1>0, 0>1, 1>0, 1>2, 2>1, 1 run the writer, 1>0, 0>1, 0 run the writer, 0 store, 0>2, 2 run the writer, 0>1, 2>0, 0>2, 1>0, 0>2, 0>1, 1 load, 1 store, 1>0, 0>1, 2>0, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 1>2, 0 load, 1>0, 1>0, 0>2, 2 run the reader, 2>1, 1>0, 1 run the reader, 0>2, 2 run the writer, 2>0, 0>2, 0>1, 0>1, 1>0, 0 run the reader, 1 run the writer, 0>1, 0>2, 0>2, 2>1
  cache IM/TokensOwner -> IM
  cache IM/StarvingSharedLast -> IM: yieldAll
  - writes its bytes to 0
  - sends TokensOwner (1) for 0 to 0

3 nodes: 1 store, 1>0, 1 load, 0>1, 2 load, 0>1, 1 run the reader, 1 evict, 1>0, 0>1, 1>0, 0>1, 2>0, 0>2, 2 store, 0>2, 2 run the writer, 2>0, 0>2, 0>2, 0 load, 0>2, 2 run the reader, 1 load, 2 evict, 0 store, 2>0, 1>0, 0>1, 0 run the writer, 0>1, 0>2, 2>0, 0>2, 2>1, 0>2, 1 run the writer, 1>0, 1>0, 2>0, 0>1, 2 run the writer, 2>0, 0 run the writer, 0>1, 0>2, 1 run the reader, 1 evict, 1 run the writer, 1>0, 0>1, 0 store, 2>0, 1>0, 0>2, 0>1, 1>0, 0>1, 1>0, 0>1, 0 run the writer, 0>1, 0 store, 1>2, 1>0, 0>1, 0>2, 2 run the writer, 2>1, 2 store, 1>0, 2>0, 0>2, 1 run the writer, 1>0, 1 store, 0 run the reader, 0>2, 2>1
  cache IM/TokensAll -> IM
  tokens: 0 -> 3, the owner token, the bytes

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 1 load, 2>0, 0 store, 0>1, 0>2, 0>2, 0>2, 1>0, 0>1, 1>2, 2>0, 0>2, 2 run the writer, 2 store, 1>0, 0>2
  cache IM/ForwardMiss -> IM: answerNothing
  - sends Answer for 1 to 1

3 nodes: 1 store, 1>0, 1 load, 0>1, 0>1, 1 run the reader, 2 store, 0 store, 2 load, 2>0, 0>2, 0>1, 1>0, 0 run the writer, 0>2, 0 load, 0>2, 2 run the reader, 1 load, 2 evict, 0 store, 2 load, 2>0, 0 run the reader, 2>0, 1>0, 0>1, 0 run the writer, 0>1, 0>2, 2>0, 0>2, 2>1, 1>0, 0>2, 0>2, 1>2, 2>0, 2>0, 0>2, 0>1, 1>0, 0>1, 1 run the writer, 0>1, 1>0, 0 run the writer, 1>2, 2>1, 1>0, 0 load, 0>2, 1>2, 2>0, 0 store, 2>1, 0>1, 0>1, 1>2, 2>1, 2 run the reader, 0>1, 2>1, 2 load, 1>2, 1 run the reader, 2>0, 1 run the writer, 0>2, 1>0, 2>0, 0 run the reader, 0>2, 0>2, 2>0, 0 run the writer, 1>0, 0>1, 0>1, 0>2, 1>0, 0>2, 2>1, 2 run the writer, 2>0, 2>0, 0>2, 0 run the writer, 0>1, 0 load, 0>1, 1 run the writer, 1>2, 1>0, 0>2
  cache IM/StarvingShared -> IM: yieldOwner
  - writes its bytes to 0
  - sends TokensOwner (1) for 0 to 0
  tokens: 2, the owner token, the bytes -> 1, the bytes
  starving: none -> 0 to read

3 nodes: 2 store, 1 store, 1 load, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 1 run the writer, 1>0, 0>1, 0 store, 2>0, 1>0, 0>2, 0>1, 1>0, 0>1, 1>0, 0>1, 0 run the writer, 0>1, 1>2, 1>0, 0 load, 0>1, 0>2, 2 run the writer, 2>1, 2 store, 1>0, 2>0, 0>2, 0>1, 0>1, 1 run the writer, 1>0, 1 store, 0 run the reader, 0>2, 1>2, 1>2, 2>1, 2>1, 2>1
  cache IM/StarvingModified -> IM: yieldAll
  - sends Tokens (1) for 2 to 2
  tokens: 1 -> 0
  starving: none -> 2 to write

2 nodes: 1 store, 1>0 lost, 0>1
  cache IM/Refused -> I: fail
  - tells its program that the page cannot be had
  copy: IM -> I

2 nodes: 1 store, 1>0 without memory, 0>1
  cache IM/NoMemory -> I: fail
  - tells its program that the page cannot be had
  copy: IM -> I

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 store, 1 late load
  cache SM/Load -> SM: mapReadOnly
  - maps to read

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 store, 1 store
  cache SM/Store -> SM

3 nodes: 1 store, 1 load, 1>0, 0>1, 0>1, 0 load, 0>1, 0 store, 2 load, 2 store, 2>0, 0>2, 0>1, 1 run the reader, 1>0, 1 evict, 1>0, 0 run the writer, 0 run the reader, 0>1, 1 load, 1>2, 2 run the writer, 2 run the reader, 0>1, 0>2, 2>0, 0>2, 1>0, 0>1, 1>0, 1>0, 0>1, 2>0, 0 run the writer, 0 load, 0 store, 0>1, 0>1, 1>0, 0>2, 2 run the writer, 0>2, 2>0, 2 evict, 0 pin, 0 run the writer, 0>2, 0 late load, 0 run the reader, 2>0, 0>1, 2 load, 0>2, 2>0, 2>0, 0 unpin, 0 late load, 0>1, 2 store, 1>0, 0>1, 1>0, 1 run the reader, 1>0, 0>2, 0 retry briefly, 0>2, 0>2, 0 unpin, 2 run the writer, 2>0, 2>0, 0 run the writer
  cache SM/Store -> SM
  cache SM/AnsweredAll -> M: mapWritable
  - maps to write
  copy: SM -> M
  copy waits for: -2 -> 0
  put off: Asked for 0, ForwardModified for 2 -> ForwardModified for 2

3 nodes: 1 store, 1 load, 1>0, 0>1, 2 load, 2>0, 2 store, 0>1, 0>2, 1 run the reader, 0>1, 1 run the writer, 1>0, 1>2, 0>1, 2 run the writer, 0>2, 2>1, 0 store, 2>0, 0>2, 0>1, 0>1, 0 load, 1 run the writer, 1>0, 0 run the reader, 0>2, 2 run the reader, 0 load, 0>2, 2 evict, 2>0, 1 store, 2>0, 0>2, 1>0, 0>2, 2 run the writer, 0 run the writer, 0>1, 0>1, 0>1, 2>1, 1>2, 1>0, 2 load, 1 load, 2>0, 0>1, 1 run the writer, 1>0, 0>2, 1 run the reader, 0>1, 2>0, 0>2, 1>0, 0 run the reader, 0>2, 2 run the reader, 2 run the writer, 0 load, 0>2, 2>1, 2>0, 0>2, 2>0, 0>1, 1>0, 0>1, 0>2, 0 run the reader, 0>2, 0>2, 0 load, 1>0, 2>1, 2>1, 2>0, 2 load, 2>0, 0>2, 0>1, 1>2, 2>1, 1>0, 0>2, 0>1, 1>2, 1>2, 1 store, 2 run the reader, 2>1, 2>1, 1>0, 1>2, 1>2, 2>0, 2 run the writer, 0>2, 2>0, 0>1, 2>0, 0 run the writer, 0>1, 0>1, 1>2, 2 late load, 1 run the writer, 1>2, 2 run the writer
  cache SM/Store -> SM
  cache SM/StarvingShared -> SM: yieldOwner
  - writes its bytes to 0
  - sends TokensOwner (1) for 0 to 0
  tokens: 2, the owner token, the bytes -> 1, the bytes

3 nodes: 1 store, 1 load, 1>0, 0>1, 0 store, 0>1, 2 store, 0>1, 2>0, 0>2, 1 run the writer, 1 run the reader, 1>0, 1>0, 0 run the writer, 0 load, 0>2, 0>2, 2 run the writer, 2 evict, 1 store, 0 store, 0>1, 2>1, 2>0, 1 run the writer, 1>0, 0>1, 0>2, 0>2, 2>0, 0>2, 0 run the reader, 0>1, 0 run the writer, 0 load, 0>1, 2>0, 2 store, 0>2, 2>0, 0>2, 2>1, 1>0, 0>1, 1 run the writer, 1>0, 0>1, 1>2, 1>0, 1>2, 1 store, 0 run the writer, 0>2, 2 run the writer, 2>1, 0 store, 1>0, 0>1, 0>1, 1>0, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 0 run the reader, 0>2, 2>0, 0>1, 1 run the writer, 2 store, 2 load, 2>0, 1 evict, 0>2, 0>2, 1>0, 1>0, 1 store, 0>2, 0>1, 2>1, 1>0, 0>1, 1>0, 0 store, 2>0, 0>2, 0>1, 2 run the reader, 2>1, 1>2, 2 run the writer, 2>0, 2>0, 0>2, 2>0, 0 run the reader, 0 load, 0>1, 0>2, 1>2, 1>0, 0>2, 0>2, 2>1, 2 load, 2>1, 1>2, 1 run the reader, 1 load, 1>2, 2 run the reader, 1>0, 0>1, 2>1, 1>0, 2>0, 2>0, 2>0, 0 pin, 0>2, 0 run the writer, 0>2, 0 late load, 0 unpin, 2>0, 0 run the writer
  cache SM/Store -> SM
  cache SM/ForwardShared -> SM: answerShared
  - writes its bytes to 1
  - sends AnswerData (1) for 1 to 1
  cache SM/AnsweredOwner -> SM_P: activateModified
  - sends ActivateModified to 1, bytes at 0
  - sends ActivateModified to 2, bytes at 0
  directory H/ActivateModified -> H: expectAlone
  copy: SM -> SM_P
  copy waits for: -1 -> 0
  tokens: 3, the owner token, the bytes -> 2, the owner token, the bytes
  put off: ForwardShared for 1, Asked for 0 -> none
  starving: none -> 0 to write
  home has changed owners once more

3 nodes: 1 load, 2 load, 1>0, 0>1, 0>1, 1 run the reader, 1 store, 2>0, 0>2, 0>2, 2 run the reader, 1>0, 0>2, 2>1
  cache SM/AnswerMore -> SM
  copy waits for: 0 -> -1
  tokens: 1, the bytes -> 2, the bytes

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>2, 2>0, 1>0, 0 load, 0>2, 2 run the writer, 0>2, 2 store, 2>0, 0>2
  cache SM/AckMore -> SM
  copy waits for: 2 -> 1

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>2, 2>0, 1>0, 0 load, 0>2, 2 run the writer, 0>2, 2 store, 2>0, 0>2, 2>1, 2>1, 1>2
  cache SM/AckLast -> SM: requestModified
  - sends GetModified to 0, bytes at 2
  copy waits for: 1 -> 0

2 nodes: 1 load, 1 store, 1>0, 0 store, 0>1, 0>1, 1 run the writer, 0>1
  cache SM/ForwardModified -> IM: unmap, answerAll
  - unmaps
  - sends Answer (1) for 0 to 0
  copy: SM -> IM
  tokens: 1, the bytes -> 0

3 nodes: 1 store, 1>0, 0>1, 0 store, 0 load, 1 load, 0>1, 0>1, 2 store, 2>0, 0>2, 1 run the reader, 2 load, 1>0, 0 run the reader, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1 run the writer, 2 run the reader, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2 store, 2>0, 0>2, 0>1, 0>1, 1>2, 1>0, 0>1, 1>0, 1>2, 2>1, 1 run the writer, 1>0, 0>1, 0 run the writer, 0 store, 0>2, 2 run the writer, 0>1, 2>0, 0>2, 1>0, 0>1, 0>2, 1 load, 1 store, 1>0, 0>1, 2>0, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 1>2, 0 load, 0>2, 2 run the writer, 1>0, 2 evict, 2>1, 2>0, 1>0, 1 run the writer, 0>1, 2 run the reader, 0>2, 0>2, 2>0, 0>1
  cache SM/ForwardMiss -> SM: answerNothing
  - sends Answer for 2 to 2

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1 load, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>0, 0>1, 1>0, 0>1, 0>1, 1 run the reader, 1 store, 1>2, 2>1
  cache SM/StarvingModified -> IM: unmap, yieldAll
  - unmaps
  - sends Tokens (1) for 2 to 2
  copy: SM -> IM
  tokens: 1, the bytes -> 0
  starving: none -> 2 to write

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 store, 1>0 lost, 0>1
  cache SM/Refused -> S: fail
  - tells its program that the page cannot be had
  copy: SM -> S

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 store, 1>0 without memory, 0>1
  cache SM/NoMemory -> S: fail
  - tells its program that the page cannot be had
  copy: SM -> S

2 nodes: 1 load, 1>0, 0 pin, 0>1, 0>1, 1 store, 1>0, 0 store, 0 late load
  cache OM/Load -> OM: mapReadOnly
  - maps to read

2 nodes: 1 load, 1>0, 0 pin, 0>1, 0>1, 1 store, 1>0, 0 store, 0 store
  cache OM/Store -> OM

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 1>0, 0>1, 0>2, 2 store, 2>0, 0>1, 2>1, 1 run the reader, 1>2
  cache OM/AnswerMore -> OM
  copy waits for: 0 -> -1
  tokens: 2, the owner token, the bytes -> 3, the owner token, the bytes

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>1, 0>2, 2>0, 2>1, 1>0, 0>1, 1 store, 1>0, 0>1
  cache OM/AckMore -> OM
  copy waits for: 2 -> 1

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>1, 0>2, 2>0, 2>1, 1>0, 0>1, 1 store, 1>0, 0>1, 1>2, 1>2, 2>1
  cache OM/AckLast -> OM: requestModified
  - sends GetModified to 0, bytes at 1
  copy waits for: 1 -> 0

3 nodes: 1 load, 1>0, 0>1, 2 store, 1 store, 0>1, 2>0, 0>2, 1 run the reader, 1 evict, 0 load, 0>1, 0>2, 0>2, 1 run the writer, 1>0, 0>1, 1>0, 1>2, 0>1, 2>1, 0>2, 0 store, 2>0, 0>2, 2 run the writer, 2>0, 2>0, 0>2, 2>1, 0 run the writer, 0>2, 2>0, 0>2, 0>1, 2>1, 1 run the writer, 1 evict, 1>2, 1>0, 2 load, 2>0, 0>1, 0>2, 1>0, 2 store, 0>2, 2>0, 0>1, 1>0, 0 run the writer, 0>1, 0 store, 0>2, 2 run the writer, 2>0 without memory, 0>2, 2 evict, 2>0, 1>0
  cache OM/AckLast -> OM: requestModified
  directory H/GetModified -> H: askHolders, expectAlone
  cache OM/AnsweredAll -> M: mapWritable
  - maps to write
  copy: OM -> M
  copy waits for: 1 -> 0
  home has changed owners once more

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 2 store, 1>0, 0>2
  cache OM/ForwardShared -> OM: answerShared
  - writes its bytes to 1
  - sends AnswerData (1) for 1 to 1
  tokens: 2, the owner token, the bytes -> 1, the owner token, the bytes

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 2 store, 1>0, 0>1, 0>2, 2>1, 1 run the reader, 1 evict, 1 load, 1>0, 0>1, 1>0, 0>2
  cache OM/ForwardSharedLast -> IM: unmap, answerAll
  - unmaps
  - writes its bytes to 1
  - sends AnswerOwner (1) for 1 to 1
  copy: OM -> IM
  tokens: 1, the owner token, the bytes -> 0

2 nodes: 1 load, 1>0, 0 pin, 0>1, 0>1, 1 store, 1>0, 0 store, 0 unpin, 0 retry
  cache OM/ForwardModified -> IM: unmap, answerAll
  - unmaps
  - writes its bytes to 1
  - sends AnswerOwner (1) for 1 to 1
  cache IM/Asked -> IM_A
  copy: OM -> IM_A
  copy waits for: 0 -> 1, granted
  tokens: 1, the owner token, the bytes -> 0
  put off: ForwardModified for 1, Asked for 0 -> none

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2 load, 2>0, 0>2, 1>0, 0>1, 0>2, 2>1, 1>0, 2>0, 0>1, 1 run the reader, 1 store, 0>2, 2>0, 0>2, 0>2, 2>1
  cache OM/StarvingShared -> SM: yieldOwner
  - writes its bytes to 2
  - sends TokensOwner (1) for 2 to 2
  copy: OM -> SM
  tokens: 2, the owner token, the bytes -> 1, the bytes
  starving: none -> 2 to read

4 nodes: 3 load, 1 store, 1 load, 1>0, 0>1, 0>1, 1 run the writer, 3 store, 1 evict, 3>0, 0 load, 0>1, 1>0, 1>3, 0 store, 0>1, 1 store, 0>3, 3 run the writer, 3>0, 2 load, 3 run the reader, 1>0, 2 store, 0>3, 0 run the reader, 0 run the writer, 0>1, 1>0, 2>0, 0>1, 0>2, 1>3, 0>1, 1>0, 0>1, 0>2, 0>3, 3>1, 3>2, 0>3, 3>0, 0>3, 3>0, 0 load, 3>1, 0>3, 1>3, 3 run the writer, 3 load, 3>0, 0 run the reader, 3 store, 3>2, 2>3, 0>1, 0 load, 0>3, 3>0, 0>2, 3>0, 0>1, 1>0, 0>1, 0 run the reader, 1>0, 0>2, 0>2, 2>0, 0>3, 2 run the writer, 0>3, 0>3, 0>3, 3 run the writer, 0 run the writer, 3>0, 2>1, 2>0, 1>2, 0>2, 3>0, 1>0, 0>1, 0>2, 1>3, 0>3, 0>3, 3>1, 1 run the reader, 0 load, 3>0, 0>1, 0>3, 1>2, 2>1, 1>0, 1 load, 0>1, 0>2, 1>0, 0>1, 0 run the reader, 0>2, 0>2, 0 run the writer, 0>3, 3>0, 1>0, 2>0, 2 run the writer, 0>3, 2 store, 2>0, 0>3, 0>1, 0>2, 0>2, 2>3, 3 run the writer, 3 run the reader, 1>3, 0 load, 3>1, 3>0, 3 store, 1>0, 3>0, 0>2, 0>2, 0 run the reader, 0>2, 0>2, 2 run the reader, 2>3, 0>3, 2>1, 0>3, 3>2, 0>1, 0>1, 2>3, 3 run the writer, 1>3
  cache OM/StarvingSharedLast -> IM: unmap, yieldAll
  - unmaps
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  copy: OM -> IM
  tokens: 1, the owner token, the bytes -> 0
  starving: none -> 1 to read

2 nodes: 1 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 0>1, 1 store, 1>0, 1>0 lost, 0>1
  cache OM/Refused -> O: fail
  - tells its program that the page cannot be had
  copy: OM -> O

2 nodes: 1 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 0>1, 1 store, 1>0, 1>0 without memory, 0>1
  cache OM/NoMemory -> O: fail
  - tells its program that the page cannot be had
  copy: OM -> O

2 nodes: 1 load, 1>0, 0>1, 1 load
  cache IS_A/Load -> IS_A

2 nodes: 1 load, 1>0, 0>1, 1 store
  cache IS_A/Store -> IS_A

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0 load, 0>1, 0>1, 1>0, 1>0
  cache IS_A/AnsweredAll -> M: mapWritable
  - maps to write
  copy: IS_A -> M
  copy waits for: 1, granted -> 0

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 1>0, 0>2, 2>0, 0 load, 0>2, 0>2, 2>0, 2>0
  cache IS_A/AnsweredOwner -> O: mapReadOnly
  - maps to read
  copy: IS_A -> O
  copy waits for: 1, granted -> 0

2 nodes: 1 load, 1>0, 0>1, 0>1
  cache IS_A/AnsweredShared -> S: mapReadOnly
  - maps to read
  copy: IS_A -> S
  copy waits for: 1, granted -> 0
  tokens: 0 -> 1, the bytes

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>1, 0>2, 2>1
  cache IS_A/AnsweredShort -> IS_P: activateShared
  - sends ActivateShared to 0, bytes at 1
  - sends ActivateShared to 2, bytes at 1
  copy: IS_A -> IS_P
  copy waits for: 1, granted -> 0
  starving: none -> 1 to read

2 nodes: 1 store, 1>0, 0 store, 0 load
  cache IM_A/Load -> IM_A

2 nodes: 1 store, 1>0, 0 store, 0 store
  cache IM_A/Store -> IM_A

3 nodes: 1 load, 2 store, 1>0, 2>0, 0>2, 0>2
  cache IM_A/AnswerMore -> IM_A
  copy waits for: 2, granted -> 1, granted
  tokens: 0 -> 2, the owner token, the bytes

2 nodes: 1 store, 1>0, 0>1, 0>1
  cache IM_A/AnsweredAll -> M: mapWritable
  - maps to write
  copy: IM_A -> M
  copy waits for: 1, granted -> 0
  tokens: 0 -> 2, the owner token, the bytes

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0>1, 0>2, 0>2, 1>2
  cache IM_A/AnsweredOwner -> IM_P: activateModified
  - sends ActivateModified to 0, bytes at 2
  - sends ActivateModified to 1, bytes at 2
  copy: IM_A -> IM_P
  copy waits for: 1, granted -> 0
  starving: none -> 2 to write

3 nodes: 1 store, 2 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 1 evict, 0>1, 1>0, 0>1, 1>0, 2>0, 0>1, 0>2, 1>0, 0 run the reader, 0 load, 0>2, 0>2, 1>2
  cache IM_A/AnsweredShared -> IM_P: activateModified
  - sends ActivateModified to 0, bytes at 2
  - sends ActivateModified to 1, bytes at 2
  copy: IM_A -> IM_P
  copy waits for: 1, granted -> 0
  starving: 0 to read -> 0 to read, 2 to write

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>2
  cache IM_A/AnsweredShort -> IM_P: activateModified
  - sends ActivateModified to 0, bytes at 2
  - sends ActivateModified to 1, bytes at 2
  copy: IM_A -> IM_P
  copy waits for: 1, granted -> 0
  starving: none -> 2 to write

3 nodes: 1 load, 2 store, 1>0, 2>0, 0 load, 0>2, 0>2, 0>2
  cache IM_A/ForwardShared -> IM_A: defer
  put off: none -> ForwardShared for 0

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 1>0, 0>1, 0>2, 2>0, 2>1, 1 run the reader, 1 evict, 1 store, 1>0, 0>1, 1>0, 0>1, 0>2, 2 load, 2>0, 2>1, 0>1
  cache IM_A/ForwardSharedLast -> IM_A: defer
  put off: none -> ForwardShared for 2

3 nodes: 1 load, 2 store, 1>0, 2>0, 0 store, 0>2, 0>2, 0>2
  cache IM_A/ForwardModified -> IM_A: defer
  put off: none -> ForwardModified for 0

2 nodes: 1 load, 1>0, 0 store, 0 late load
  cache SM_A/Load -> SM_A: mapReadOnly
  - maps to read

2 nodes: 1 load, 1>0, 0 store, 0 store
  cache SM_A/Store -> SM_A

3 nodes: 1 load, 2 load, 1>0, 0>1, 0>1, 1 run the reader, 2>0, 0 store, 0>1, 1>0
  cache SM_A/AnswerMore -> SM_A
  copy waits for: 2, granted -> 1, granted
  tokens: 1, the owner token, the bytes -> 2, the owner token, the bytes

2 nodes: 1 load, 1>0, 0 store, 0>1, 0>1, 1 run the reader, 0>1, 1>0
  cache SM_A/AnsweredAll -> M: mapWritable
  - maps to write
  copy: SM_A -> M
  copy waits for: 1, granted -> 0
  tokens: 1, the owner token, the bytes -> 2, the owner token, the bytes

3 nodes: 1 load, 2 load, 1>0, 0>1, 0>1, 1 store, 2>0, 0>2, 0>2, 2 run the reader, 2 evict, 1>0, 0>1, 0>1, 0>2, 2>1
  cache SM_A/AnsweredOwner -> SM_P: activateModified
  - sends ActivateModified to 0, bytes at 1
  - sends ActivateModified to 2, bytes at 1
  copy: SM_A -> SM_P
  copy waits for: 1, granted -> 0
  starving: none -> 1 to write

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 1>0, 0>1, 0>2, 2>0, 0>2, 2>1, 1 store, 1>0, 0>1, 0>1, 0>2, 2>1
  cache SM_A/AnsweredShared -> SM_P: activateModified
  - sends ActivateModified to 0, bytes at 1
  - sends ActivateModified to 2, bytes at 1
  copy: SM_A -> SM_P
  copy waits for: 1, granted -> 0
  starving: none -> 1 to write

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 1>0, 0 load, 0>1, 0>2, 2 store, 0>2, 2>0, 0>1, 0>2, 2>1, 1 run the reader, 1 load, 1>0, 0>2
  cache SM_A/ForwardSharedLast -> SM_A: defer
  put off: none -> ForwardShared for 1

3 nodes: 1 store, 1 load, 1>0, 0>1, 2 store, 0 store, 0>1, 0>1, 1 run the reader, 2 load, 1 load, 0 load, 1>0, 0 run the writer, 1>0, 0>1, 2>0, 0>1, 1 run the reader, 1 evict, 1 load, 1 run the writer, 1>0, 0>1, 0>1, 0 store, 1>0, 0>1, 0>2, 1>2, 0>2, 2>0, 2>1, 0>2, 0>2, 2 run the reader, 2>0, 0>2, 2>0, 0 run the reader, 2 load, 0 load, 0>2, 2>0, 0>1, 1 run the writer, 0>1, 1>2, 1 run the reader, 2>1, 1>2, 2>0, 1>0, 0>1, 0>2, 2>0, 0 run the reader, 0>1, 0 load, 1>0, 0>1, 0>2, 0>2, 1 store, 2>0, 0>1, 1>0, 0>1, 1 run the reader
  cache SM_A/StarvingSharedLast -> IM_A: unmap, yieldAll
  - unmaps
  - writes its bytes to 0
  - sends TokensOwner (1) for 0 to 0
  copy: SM_A -> IM_A
  tokens: 1, the owner token, the bytes -> 0

3 nodes: 2 load, 2>0, 0>2, 0>2, 2 store, 2>0, 0>2, 0>2, 2 run the reader, 1 store, 1>0, 2 evict, 1 load, 0>1, 2>0, 0>2, 2 load, 0>2, 2>0, 2>1, 0>1, 0>2, 1 run the reader, 1 evict, 1>0, 0>1, 1>0, 0>1, 2>0, 0>2, 0 store, 1 run the writer, 0>2, 1 load, 2 run the reader, 2 evict, 2 run the writer, 1>0, 0>2, 2>0, 0>2, 2 load, 0>1, 2>0, 0 run the writer, 0 store, 0>1, 0 load, 1 run the reader, 0>1, 1>0, 0 run the reader, 2>0, 0>2, 0>2, 2 run the reader, 1 load, 2 evict, 2>0, 1>0, 0>1, 0>2, 0>2, 2>1, 1 load
  cache IS_P/Load -> IS_P

3 nodes: 2 store, 2 load, 2>0, 0>2, 0>2, 2 run the reader, 1 store, 1>0, 2 evict, 1 load, 0>1, 2>0, 0>2, 2 load, 0>2, 2>0, 2>1, 0>1, 0>2, 1 run the reader, 1 evict, 1>0, 0>1, 1>0, 0>1, 2>0, 0>2, 0 store, 1 run the writer, 0>2, 1 load, 2 run the reader, 2 evict, 2 run the writer, 1>0, 0>2, 2>0, 0>2, 2 load, 0>1, 2>0, 0 run the writer, 0 store, 0>1, 0 load, 1 run the reader, 0>1, 1>0, 0 run the reader, 2>0, 0>2, 0>2, 2 run the reader, 1 load, 2 evict, 2>0, 1>0, 1 run the writer, 0>1, 0>2, 0>2, 2>1, 1 store
  cache IS_P/Store -> IS_P

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>1, 0>2, 2>0, 2>1, 1>0, 0>1
  cache IS_P/TokensOwner -> O: mapReadOnly, deactivate
  - maps to read
  - sends Deactivate to 0
  - sends Deactivate to 2
  copy: IS_P -> O
  copy waits for: 0 -> 2
  tokens: 0 -> 2, the owner token, the bytes
  starving: 1 to read -> none

3 nodes: 2 load, 2 store, 2>0, 0>2, 0 store, 0>2, 0>2, 2 run the reader, 2>0, 0 run the writer, 1 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 1 load, 0>1, 1>0, 0 run the reader, 0>1, 2 run the writer, 0 store, 2>0, 0>1, 1>0, 1 store, 0>1, 0>2, 1>0, 0 run the writer, 1>0, 0>2, 2 run the writer, 0 load, 2 evict, 2>0, 0>2, 0>1, 2>0, 0>2, 2 store, 2>0, 0>2, 0>1, 1>0, 0 store, 0>1, 0>1, 1>0, 0>1, 1 run the reader, 1>0, 0 run the reader, 0>2, 0 run the writer, 2>0, 0>1, 1>0, 0>2, 0>1, 2>0, 0 run the writer, 0>2, 0>2, 0>1, 0 load, 2>0, 1>0, 2>0
  - sends Deactivated for 2 to 2
  cache IS_P/TurnCame -> IS_P: activateShared
  - sends ActivateShared to 1, bytes at 0
  - sends ActivateShared to 2, bytes at 0
  directory H/ActivateShared -> H: expectOwner
  copy waits for its turn: true -> false
  starving: 2 to write (marked) -> 0 to read
  home has changed owners once more

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0 store, 0>1, 0>2, 2>1, 0>1
  cache IS_P/ForwardMiss -> IS_P: defer
  put off: none -> ForwardModified for 0

4 nodes: 3 store, 3>0, 0>3, 0>3, 2 load, 3 run the writer, 2 store, 2>0, 0>2, 3 evict, 3 store, 0>3, 3>0, 3>2, 2 run the writer, 0 store, 2>0, 0>2, 1 store, 3 load, 2>0, 0>3, 0>3, 1>0, 3>0, 0>1, 0>3, 0>2, 0>2, 3>0, 3>0, 0>3, 0 run the writer, 0>2, 1 load, 0>1, 0>3, 0 load, 3>1, 3>2, 3>0, 2 run the reader, 0>3, 2>3, 3>2, 3 run the reader, 2>3, 3 pin, 3>0, 3>0, 3>1, 0>3, 2 load, 2>0, 0>2, 3 run the writer, 0>3, 0 store, 0>2, 3 late load, 0>3, 2>1, 0 run the reader, 1>2, 1>0, 1>3, 3 unpin, 3>0, 0>3, 1>3, 0>1, 0 load, 3 run the writer, 3>2, 3>0, 2>1, 2>3, 0>1, 3>1, 1>0, 1>3, 1 run the reader, 1 load, 2>0, 0>1, 1>3, 1>2, 2>1, 3>1, 1>0, 0>2, 3 load, 0>1, 1>2, 2>1, 2>0, 2 run the writer, 2>0, 0>2, 0>2, 1>2, 0>3, 2>3, 3>2, 2>0, 2>1, 1>2, 0>1, 1>0, 1>3, 0>2, 3>0, 0 run the reader, 0>2, 0>2, 2>1, 0>3, 3>0, 0>1, 0>1, 1>3, 0>3, 3>1, 0 load, 1>0, 1 run the reader, 2>3, 2>0, 3>2, 2>0, 3>2, 1>2, 3>0, 1>2, 2 run the writer, 2 run the reader, 1>0, 1 run the writer, 3>1, 2 store, 2>1, 0>1, 1>0, 2>1, 1>2, 0>2, 2>0, 0>2, 0>1, 1>0, 0>1, 0>1, 0>3, 2>3, 2>3, 3>1, 1>3, 3>2, 3>0, 3 run the reader, 0>3, 3>0, 3 load, 0 run the reader, 0>3, 0>3, 3>0, 0>1, 1>0, 0>1, 3>1, 2>0, 1 run the writer, 0>1, 1 evict, 0>2, 1>0, 2>0, 0>1, 1>0, 0 run the writer, 1>2, 3>2, 0>2, 0>2, 2>3, 2>0, 2>3, 3>0, 0>2, 0>3, 2>3, 0>2, 2>0, 2 run the writer, 2>3, 2>3, 2>0, 0>3
  cache IS_P/StarvingModified -> IS_P: yieldAll
  - sends Tokens (1) for 0 to 0
  tokens: 1 -> 0
  starving: 3 to read -> 0 to write, 3 to read

3 nodes: 1 store, 1>0, 0>1, 0 store, 0 load, 2 store, 2>0, 0>2, 1 load, 0>1, 0>1, 1 run the reader, 1>0, 0 run the writer, 0 run the reader, 0>2, 0 store, 0>2, 2 run the writer, 2>0, 2 evict, 2 store, 2>0, 0>2, 1 run the writer, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2>0, 0>1, 0>1, 1>0, 0>1, 1>0, 1 run the writer, 0>1, 1>0, 0 run the writer, 0 store, 0>1, 1>0, 0 run the reader
  cache IM_P/Load -> IM_P

3 nodes: 1 store, 1>0, 2 load, 2>0, 0 load, 0>2, 0>1, 0>1, 1 run the writer, 0>1, 1 evict, 2 store, 1>2, 2 run the writer, 2>0 without memory, 0>1, 0>2, 1>0, 2 evict, 0 store, 2 store, 0>1, 2>0, 0>2, 2>0, 1>0, 0 run the writer, 0>1, 0>2, 1>2, 0>2, 0>2, 2 store
  cache IM_P/Store -> IM_P

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1 load, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>0, 0>1, 1>0, 0>1, 0>1, 1 run the reader, 1>2, 2>1, 1>2
  cache IM_P/TokensBare -> IM_P
  tokens: 0 -> 1

4 nodes: 2 store, 2>0, 0>2, 2 load, 0 store, 0>2, 0 load, 0>2, 2 run the reader, 2 load, 2>0, 2>0, 0 run the reader, 0>2, 1 store, 0>2, 2 run the reader, 1>0, 2 evict, 0>2, 2>1, 2 load, 3 store, 3>0, 0>3, 0>3, 0 load, 0>1, 0>3, 2>0, 0>1, 0>2, 2>0 without memory, 0>1, 0>2, 1>3, 1>0, 1>2, 2 store, 0>1, 1 run the writer, 1>0, 1>2, 0>1, 2>1, 1>3, 3>1, 1>3, 1 store, 3 run the writer, 1>0, 3 store, 0>1, 3>0, 3>0, 0 run the writer, 1 load, 0>1, 0>1, 1>3, 2>0, 1>0, 3>1, 0>2, 1>2, 0>3, 0>3, 0>3, 1>0, 1 run the reader, 1 load, 1>3, 3>1, 1>3, 3 run the writer, 3>0, 0 run the writer, 0 run the reader, 3 store, 3>0, 0>3, 0>1, 1>2, 0>1, 0>2, 0>1, 1>0, 0>1, 2 run the writer, 2>1, 1>3, 1>0, 0>1, 0>3, 2 evict, 2>0, 0>2, 0>2, 2>0, 0 run the reader, 2>0, 0>3, 0>1, 0>1, 1>3, 0>3, 3>0, 3>0, 0>3
  cache IM_P/TokensShared -> IM_P
  tokens: 1, the bytes -> 2, the bytes

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1 load, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>0, 0>1, 1>0, 1>2, 2>0, 0>2
  cache IM_P/TokensOwner -> IM_P
  tokens: 0 -> 2, the owner token, the bytes

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0>1, 0>2, 0>2, 1>0, 1>2, 2>0, 0>2
  cache IM_P/TokensAll -> M: mapWritable, deactivate
  - maps to write
  - sends Deactivate to 0
  - sends Deactivate to 1
  copy: IM_P -> M
  copy waits for: 0 -> 2
  tokens: 2, the owner token, the bytes -> 3, the owner token, the bytes
  starving: 2 to write -> none

4 nodes: 2 store, 2>0, 1 store, 2 load, 0>2, 1>0, 0>1, 0>2, 2 run the writer, 2 evict, 0>2, 2>0, 0 load, 0 store, 0>1, 0>1, 0>2, 2>1, 2 store, 1 run the writer, 1 evict, 1>0, 2>0, 0 run the reader, 1>0, 0>2, 2>0, 0>1, 0 load, 0>1, 1>2, 1>0, 0>1, 1 store, 1>0, 1 load, 0>2, 0>1, 0>2, 2>3, 2>1, 2>0, 3 load, 3>0, 0>2, 0>2, 2 run the reader, 0>3, 2>3, 2>1, 1>2, 3>2, 2>0, 2>0, 0 run the writer, 0>3, 3 store, 2 run the writer, 0>1, 1>2, 1>0, 0>2, 2 load, 2>3, 3>1, 0>2, 2>0, 0>2, 1>3, 3>0, 0>1, 2>0, 2>1, 1>0, 0>2, 3>2, 1 run the writer, 1>3, 3>1, 1>3, 3>2, 3 run the reader, 3>1, 1>3, 2>3, 3 load, 3>0, 3>0, 0>2, 0>3, 0>3, 3>0, 0>1, 1>2, 1>2, 0>3, 0>1, 2>0, 0>1, 1>0, 0 run the writer, 0 run the reader, 2>1, 0 store, 0>3, 0>3, 3>1, 1 store, 1>0, 0>3, 0>1, 3>2, 0>1, 3>0, 3>0, 0>2, 2>0, 0>2, 2 run the reader, 2>3, 3 run the writer, 3>0, 2 evict, 2>0, 0>2, 2 load, 2>0, 0>2, 0>3, 0>3, 3>2, 0>3, 3>2, 3>0, 0>3, 2>0, 2>1, 3>1, 0>1, 3>1, 1>2, 0>2, 1>0, 1>0, 0>3, 0>1, 3>0, 1>0, 0 run the writer, 0>2, 2>0, 0>1, 1>0, 1>2, 1 run the reader, 0>1, 1>0, 1>2, 2>0
  - sends Deactivated for 2 to 2
  cache IM_P/TurnCame -> IM_P: activateModified
  - sends ActivateModified to 1, bytes at 0
  - sends ActivateModified to 2, bytes at 0
  - sends ActivateModified to 3, bytes at 0
  directory H/ActivateModified -> H: expectAlone
  copy waits for its turn: true -> false
  starving: 2 to read (marked) -> 0 to write
  home has changed owners once more

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 load, 0>1, 0>2, 0>2, 1>2, 0>2
  cache IM_P/ForwardShared -> IM_P: defer
  put off: none -> ForwardShared for 0

4 nodes: 2 store, 2 load, 2>0, 0>2, 0 load, 0 store, 0>2, 2 run the reader, 0>2, 2>0, 0 run the writer, 2 run the writer, 1 load, 2>0, 1>0, 0>1, 0>2, 0>2, 2 load, 2>0, 0 run the writer, 0>2, 0>2, 2 run the reader, 2 run the writer, 2>0, 0 run the reader, 3 store, 3>0, 2>1, 1 run the reader, 0>3, 0 store, 0>2, 0>2, 3 load, 1 evict, 0>2, 0>2, 1>0, 0>1, 1>2, 2>0, 0>2, 1 load, 2 run the writer, 0>1, 2 load, 1>0, 2 store, 2>0, 2>3, 2>0, 0>2, 0>2, 0>1, 0 run the writer, 0>2, 2>1, 2>3, 0>1, 3>2, 2>1, 2>3, 2>1, 1>2, 0>3, 2>0, 1>0, 3 run the reader, 1>2, 2>0, 1>3, 3 run the writer, 0>1, 3>1, 1>0, 0>1, 0>2, 3>0, 1>2, 0>3, 1>3, 0>1, 3>1, 2>1, 0>2, 1 run the reader, 1 load, 1>3, 1>2, 2>0, 2>1, 1>0, 2>3, 1>0, 0>2, 0>3, 0>1, 0>1, 3>0, 0>1, 1>0, 0 run the writer, 0>2, 0>1, 1>3, 1>0, 1>2, 0>2, 2>0, 2 run the writer, 0>3, 3>0, 0>3, 2>0, 0>2, 0 run the reader, 0>1, 2>1, 2>1, 1>2, 0 store, 1 run the reader, 1>2, 3 load, 1>0, 0>1, 1>3, 3>1, 2>3, 3>2, 1>0, 2>0, 0>1, 0>2, 0 run the writer, 0>2, 2>3, 3>1, 1>2, 3>0, 0>2, 2>3, 2>1, 3>2, 2>1, 3>2, 2>0, 2 run the writer, 2>0, 2>0, 0>2, 2>3, 3>2, 2>1, 1>2, 0>2, 2 store, 2>0, 0>2, 2>3, 0>3, 3 run the reader, 3>1, 1>3, 3>0, 3>2, 2>3, 3 load, 0>3, 3>0, 0>1, 0>2, 3>0, 0>3, 0 run the reader, 0>3, 3>0, 0>1, 0>2, 0>2, 0 load, 1>0, 1 load, 2>0, 1>0, 0>2, 0>2, 2 run the reader, 2>3, 2 evict, 2>0, 2>0, 3 run the writer, 3>0, 0>2, 0 run the reader, 0>2, 2>0, 2 run the writer, 0>2, 2>0, 0 load, 0>2, 0>2, 0>2
  cache IM_P/ForwardSharedLast -> IM_P: defer
  put off: none -> ForwardShared for 0

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 0>1, 0>2, 0>2, 1>2, 0>2
  cache IM_P/ForwardModified -> IM_P: defer
  put off: none -> ForwardModified for 0

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 2>0, 0 load, 0>1, 0>2, 0>2, 1>2, 0>2
  cache IM_P/ForwardMiss -> IM_P: defer
  put off: none -> ForwardShared for 0

3 nodes: 1 load, 1>0, 0>1, 2 load, 2>0, 0>1, 1 run the reader, 2 store, 0 store, 0>2, 0>1, 1 store, 1>0, 0>2, 0>2, 2 run the writer, 2>0, 0>2, 2>0, 0 run the writer, 0>2, 0 load, 0 store, 2 run the reader, 2 evict, 2>0, 1>0, 0>1, 2 run the writer, 0>2, 2>0, 0 run the writer, 0>1, 0>1, 0>2, 0>2, 2>0, 2>1, 0>2, 2>0, 0>2, 1>2, 1>0, 0>1, 1>0, 1>2, 0>1, 1 run the writer, 1 store, 1>0, 2>1, 0 run the reader, 0 load, 0>1, 1>0, 1>0, 0>2, 2 run the writer, 0>2, 0>1, 0>1, 2>0, 0 run the reader, 0 load, 0>2, 2>0, 0>1, 0>1, 1>0, 0>1
  cache IM_P/StarvingShared -> IM_P: yieldOwner
  - writes its bytes to 0
  - sends TokensOwner (1) for 0 to 0
  tokens: 2, the owner token, the bytes -> 1, the bytes
  starving: 1 to write -> 0 to read, 1 to write

3 nodes: 1 store, 2 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 1 evict, 0>1, 1>0, 0>1, 1>0, 0 run the reader, 2>0, 0>1, 0>2, 0>2, 1>0, 0 store, 1>2, 0>2
  cache IM_P/StarvingModified -> IM_P: yieldAll
  - sends Tokens (1) for 0 to 0
  tokens: 1 -> 0
  starving: 2 to write -> 0 to write, 2 to write

3 nodes: 1 store, 1>0, 0 store, 1 load, 0>1, 0>1, 0>1, 2 store, 2>0, 0>2, 1 run the reader, 1>0, 1 load, 0 run the writer, 1>0, 0>1, 0>2, 0>2, 2 run the writer, 2 evict, 2>1, 2>0, 0>2, 1 run the writer, 1>0, 0>2, 2>1, 0>1, 0>1, 1 late load
  cache SM_P/Load -> SM_P: mapReadOnly
  - maps to read

3 nodes: 2 store, 1 load, 2>0, 0>2, 1>0, 0>1, 1 store, 0>2, 0>2, 2 run the writer, 2 evict, 2>1, 2>0, 0>2, 1 run the writer, 1>0, 0>2, 2>1, 1 late load, 0>1, 0>1, 1 run the writer
  cache SM_P/Store -> SM_P

4 nodes: 2 store, 2>0, 0>2, 0>2, 2 run the writer, 0 store, 0>2, 0 load, 2>0, 3 store, 0 run the writer, 1 load, 1>0, 3>0, 0>1, 1 store, 0>1, 0>3, 0>3, 0>1, 1 run the writer, 1>3, 3 run the writer, 3 evict, 3>0, 1>0, 0 run the reader, 0>1, 0>1, 0>3, 3 store, 0>3, 0>1, 3>0, 0>3, 3>0, 3>1, 1>0, 0>3, 0>1, 1>3, 1>0, 0 store, 0>1, 1 run the reader, 1>0, 0 run the reader, 0 load, 0>1, 1>0, 0 run the writer, 1>3, 0>3, 3>1, 3>1, 0>1, 1>0, 0>3, 3>0, 3>0
  cache SM_P/TokensShared -> SM_P
  tokens: 1, the bytes -> 2, the bytes

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2 load, 1>0, 0>1, 0>2, 2>0, 0>2, 2>1, 1 store, 1>0, 0>1, 0>1, 0>2, 2>0, 0>2, 2>0, 2>1, 1>0, 0>1
  cache SM_P/TokensOwner -> SM_P
  tokens: 1, the bytes -> 2, the owner token, the bytes

3 nodes: 1 load, 2 load, 1>0, 0>1, 0>1, 1 store, 2>0, 0>2, 0>2, 2 run the reader, 2 evict, 1>0, 0>1, 0>1, 0>2, 2>0, 2>1, 1>0, 0>1
  cache SM_P/TokensAll -> M: mapWritable, deactivate
  - maps to write
  - sends Deactivate to 0
  - sends Deactivate to 2
  copy: SM_P -> M
  copy waits for: 0 -> 2
  tokens: 2, the owner token, the bytes -> 3, the owner token, the bytes
  starving: 1 to write -> none

3 nodes: 2 load, 2>0, 0>2, 2 store, 0>2, 1 store, 2 run the writer, 1 load, 1>0, 0 load, 0>2, 0>1, 2>1, 0>1, 2>0, 0>1, 1 run the writer, 1 evict, 0>1, 0>2, 0 store, 1 store, 1>2, 1>0, 1>0, 0 run the writer, 0>2, 0>2, 0>1, 1>0, 2 run the reader, 2 load, 0>1, 2>0, 0 run the reader, 2>0, 0>2, 0>2, 2 run the reader, 2 evict, 1>0, 0>2, 0 load, 2>1, 2>0, 2 load, 0>2, 0>1, 0>1, 0>1, 1>2, 2>0, 0>1, 0>2, 1>0, 0>1, 1 run the writer, 1>2, 1>2, 2>1, 1 store, 1>0, 0>1, 1>0, 0 run the writer, 0>1, 1>0, 0>1, 1>0, 0>2, 2 run the reader, 2>0, 2 load, 0>2, 0>1, 2>0, 0 run the writer, 0 run the reader, 0>1, 1>0, 2>0, 0>2, 0>2, 2>0, 0>2, 0 store, 0>1, 0>1, 1 run the reader, 1 run the writer, 1>0, 1>0, 0 run the writer, 0>1, 0>1, 0>2, 2>0, 0>1, 0>2, 1>0, 0>2, 2 run the reader, 0>1, 2>1, 2>1, 2>1, 1 run the writer, 1>0, 0 run the reader, 0 run the writer, 2>0
  - sends Deactivated for 2 to 2
  cache SM_P/TurnCame -> SM_P: activateModified
  - sends ActivateModified to 1, bytes at 0
  - sends ActivateModified to 2, bytes at 0
  directory H/ActivateModified -> H: expectAlone
  copy waits for its turn: true -> false
  starving: 2 to read (marked) -> 0 to write
  home has changed owners once more

3 nodes: 1 load, 2 load, 1>0, 0>1, 0>1, 1 run the reader, 1 store, 2>0, 0>2, 0>2, 2 run the reader, 2 evict, 1>0, 0 load, 0>1, 0>1, 0>2, 2>1, 0>1
  cache SM_P/ForwardShared -> SM_P: defer
  put off: none -> ForwardShared for 0

3 nodes: 1 load, 2 load, 1>0, 0>1, 0>1, 1 run the reader, 1 store, 2>0, 0>2, 0>2, 2 run the reader, 2 evict, 1>0, 0 store, 0>1, 0>1, 0>2, 2>1, 0>1
  cache SM_P/ForwardModified -> SM_P: defer
  put off: none -> ForwardModified for 0

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 1>0, 0>1, 0>2, 2>0, 0>2, 2>1, 1 run the reader, 1 store, 1>0, 0 load, 0>1, 0>1, 0>2, 2>1, 0>1
  cache SM_P/ForwardMiss -> SM_P: defer
  put off: none -> ForwardShared for 0

4 nodes: 2 store, 2>0, 2 load, 0>2, 0 load, 0>2, 3 load, 3 store, 1 load, 3>0, 2 run the reader, 2 evict, 2>0, 0>3, 2 load, 0>2, 1>0, 0 store, 0>2, 2>3, 0>2, 3 run the writer, 2>0, 3>0, 0>2, 2>1, 0>2, 0>3, 0 run the writer, 0>3, 2>0, 2>3, 0>1, 1>0, 0>3, 1>2, 1>3, 0>1, 0>1, 1 run the reader, 0>2, 1>3, 1>3, 1>2, 2>0, 0>1, 0>2, 1>2, 2>3
  cache SM_P/StarvingShared -> SM_P: yieldOwner
  - writes its bytes to 2
  - sends TokensOwner (2) for 2 to 2
  tokens: 3, the owner token, the bytes -> 1, the bytes
  starving: 3 to write -> 2 to read, 3 to write

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 1>0, 0>1, 0>2, 2>0, 0>2, 2>1, 1 run the reader, 1 store, 1>0, 0>1, 0>1, 0>2, 2>0, 0 store, 2>1, 0>1
  cache SM_P/StarvingModified -> IM_P: unmap, yieldAll
  - unmaps
  - sends Tokens (1) for 0 to 0
  copy: SM_P -> IM_P
  tokens: 1, the bytes -> 0
  starving: 1 to write -> 0 to write, 1 to write

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1 load
  cache OI_A/Load -> OI_A: demandLater
  copy is wanted: none -> read

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1 store
  cache OI_A/Store -> OI_A: demandLater
  copy is wanted: none -> write

2 nodes: 1 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 1 evict, 0>1
  cache OI_A/ForwardShared -> OI_A: answerShared
  - writes its bytes to 0
  - sends AnswerData (1) for 0 to 0
  tokens: 2, the owner token, the bytes -> 1, the owner token, the bytes

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 2 evict, 0>2, 1>0, 0>1, 0>2, 2>1, 1 run the reader, 1 evict, 1 load, 1>0, 0>1, 1>0, 0>2
  cache OI_A/ForwardSharedLast -> OI_A: answerAll
  - writes its bytes to 1
  - sends AnswerOwner (1) for 1 to 1
  tokens: 1, the owner token, the bytes -> 0

2 nodes: 1 store, 1>0, 0 store, 0>1, 0>1, 1 run the writer, 1 evict, 0>1
  cache OI_A/ForwardModified -> OI_A: answerAll
  - writes its bytes to 0
  - sends AnswerOwner (2) for 0 to 0
  tokens: 2, the owner token, the bytes -> 0

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 2 evict, 1>0, 0>1, 0>2, 2>1, 1 run the reader, 1 evict, 1 load, 1>0, 0>1, 1>0, 0>2, 2>0, 0 store, 0>2
  cache OI_A/ForwardMiss -> OI_A: answerNothing
  - sends Answer for 0 to 0

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0 store, 0>1, 0>1, 2>0, 0>2, 1>0, 1>0, 0 run the writer, 0 load, 0>2, 2 run the writer, 2 evict, 0>2
  cache OI_A/StarvingShared -> OI_A: yieldOwner
  - writes its bytes to 0
  - sends TokensOwner (2) for 0 to 0
  tokens: 3, the owner token, the bytes -> 1, the bytes
  starving: none -> 0 to read

3 nodes: 1 store, 1 load, 1>0, 0>1, 2 store, 0 store, 0>1, 0>1, 1 run the reader, 2 load, 1 load, 0 load, 1>0, 0 run the writer, 1>0, 0>1, 2>0, 0>2, 0>2, 0>1, 1 run the reader, 1 evict, 1 load, 1 run the writer, 1>0, 0>1, 0>1, 0 store, 1>0, 0>1, 0>2, 1>2, 2>0, 2>1, 0>2, 2 run the reader, 2>0, 0>2, 2>0, 0 run the reader, 2 load, 0 load, 0>2, 2>0, 0>1, 1 run the writer, 0>1, 1>2, 1 run the reader, 2>1, 1>2, 2>0, 1>0, 0>1, 0>2, 2>0, 0 run the reader, 0>1, 0>1, 1 run the reader, 1>0, 0 load, 0>2, 0>2, 1 evict, 2>0, 0>1
  cache OI_A/StarvingSharedLast -> OI_A: yieldAll
  - writes its bytes to 0
  - sends TokensOwner (1) for 0 to 0
  tokens: 1, the owner token, the bytes -> 0
  starving: none -> 0 to read

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0 store, 0>1, 0>1, 2>0, 0>2, 1>0, 1>0, 0 run the writer, 0 store, 0>2, 2 run the writer, 2 evict, 0>2
  cache OI_A/StarvingModified -> OI_A: yieldAll
  - writes its bytes to 0
  - sends TokensOwner (3) for 0 to 0
  tokens: 3, the owner token, the bytes -> 0
  starving: none -> 0 to write

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1
  cache OI_A/WriteBack -> EI_A: returnTokens
  - writes its bytes to 0
  - sends PutOwner (2) to 0
  copy: OI_A -> EI_A
  tokens: 2, the owner token, the bytes -> 0

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 1 load
  cache EI_A/Load -> EI_A: demandLater
  copy is wanted: none -> read

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 1 store
  cache EI_A/Store -> EI_A: demandLater
  copy is wanted: none -> write

2 nodes: 1 load, 1>0, 0 store, 0>1, 0>1, 1 run the reader, 1 evict, 0>1
  cache EI_A/ForwardMiss -> EI_A: answerNothing
  - sends Answer for 0 to 0

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 1>0, 0>1
  cache EI_A/PutAcknowledged -> I: evicted
  - gives its frame back
  copy: EI_A -> I

2 nodes: 1 load, 1>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 1 to 1
  cache M/ForwardShared -> O: protect, answerShared
  - protects
  - writes its bytes to 1
  - sends AnswerData (1) for 1 to 1
  copy: M -> O
  tokens: 2, the owner token, the bytes -> 1, the owner token, the bytes
  home has sharers: none -> 1

3 nodes: 1 load, 2 load, 1>0, 2>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 2 to 2
  cache O/ForwardShared -> O: answerShared
  - writes its bytes to 2
  - sends AnswerData (1) for 2 to 2
  tokens: 2, the owner token, the bytes -> 1, the owner token, the bytes
  home has sharers: 1 -> 1, 2

3 nodes: 1 load, 2 load, 1>0, 0 store, 2>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 2 to 2
  cache SM_A/ForwardShared -> SM_A: defer
  home has sharers: none -> 2
  put off: none -> ForwardShared for 2

3 nodes: 1 load, 2 store, 2>0, 0 store, 1>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 1 to 1
  cache IM_A/ForwardMiss -> IM_A: defer
  home has sharers: none -> 1
  put off: none -> ForwardShared for 1

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 2>0, 0 run the reader, 0 store, 1>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 1 to 1
  cache SM_A/ForwardMiss -> SM_A: defer
  home has sharers: none -> 1
  put off: none -> ForwardShared for 1

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0 load, 0>2, 2>0, 1>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 1 to 1
  cache IS_A/ForwardShared -> IS_A: defer
  home has sharers: none -> 1
  put off: none -> ForwardShared for 1

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2 load, 2>0, 0>2, 1>0, 0>1, 0>2, 2>1, 1>0, 2>0, 0>2, 2>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 2 to 2
  cache S/ForwardMiss -> S: answerNothing
  - sends Answer for 2 to 2
  home has sharers: 1 -> 1, 2

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 1>0, 0>1, 0>2, 2>0, 0 run the reader, 2>1, 1 run the reader, 1 evict, 1 load, 1>0, 0>1, 1>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 1 to 1
  cache S/ForwardShared -> S: answerShared
  - writes its bytes to 1
  - sends AnswerData (1) for 1 to 1
  tokens: 2, the bytes -> 1, the bytes
  home has sharers: none -> 1

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 2 evict, 2 load, 0>2, 1>0, 0>1, 0>2, 2>0, 0>2, 2>0, 0 run the reader, 2>1, 1 store, 1>0, 0 load, 0>2, 2>0, 0>2, 2>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 2 to 2
  cache IS_A/ForwardSharedLast -> IS_A: defer
  home has sharers: none -> 2
  put off: none -> ForwardShared for 2

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 2 evict, 2 load, 0>2, 1>0, 0>1, 0>2, 2>0, 0>2, 2>0, 0 run the reader, 2>1, 1 store, 1>0, 0>2, 2>0, 0 store, 0>2, 2>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 2 to 2
  cache SM_P/ForwardSharedLast -> SM_P: defer
  home has sharers: none -> 2
  put off: none -> ForwardShared for 2

3 nodes: 2 store, 2 load, 1 store, 1>0, 0>1, 0>1, 0 load, 0>1, 1 run the writer, 1>0, 0 run the reader, 1 evict, 1 store, 1>0, 2>0, 0>1, 1>0, 0>2, 0>2, 0>1, 1>2, 2>1, 0 store, 0>1, 2>0, 1>0, 0>2, 2>0, 0>2, 0>2, 2>0, 0 run the writer, 0 load, 0>1, 0>2, 2>1, 2 run the reader, 2 load, 2>1, 1>2, 2>0, 1>0, 0>2, 2>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 2 to 2
  cache IS/ForwardShared -> IS: answerShared
  - writes its bytes to 2
  - sends AnswerData (1) for 2 to 2
  tokens: 3, the owner token, the bytes -> 2, the owner token, the bytes
  home has sharers: none -> 2

3 nodes: 1 store, 1 load, 1>0, 0>1, 0 store, 0>1, 0>1, 1 run the reader, 1 load, 0 load, 1>0, 0 run the writer, 1>0, 0>1, 2 store, 2 load, 2>0, 0>2, 0>1, 1 run the reader, 1 evict, 1 load, 1 run the writer, 1>0, 0>1, 0>1, 0 store, 1>0, 0>1, 0>2, 1>2, 0>2, 2>0, 2>1, 0>2, 2 run the reader, 2>0, 0>2, 2>0, 0 run the reader, 2 load, 0 load, 0>2, 2>0, 0>1, 1 run the writer, 0>1, 1>2, 1 run the reader, 2>1, 1>2, 2>0, 1>0, 0>1, 0>2, 2>0, 0 run the reader, 0>1, 0>1, 1 run the reader, 1>0, 0 load, 1 evict, 1>0, 0>1, 1>0, 0>1, 1 load, 1>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 1 to 1
  cache IS/ForwardSharedLast -> IS: answerAll
  - writes its bytes to 1
  - sends AnswerOwner (1) for 1 to 1
  tokens: 1, the owner token, the bytes -> 0
  home has sharers: 2 -> 1, 2

4 nodes: 2 store, 2>0, 0>2, 2 load, 0 load, 0>2, 2 run the writer, 2 evict, 2>0, 0 store, 1 store, 1>0, 0>2, 2 store, 2>0, 0 run the reader, 0>1, 0>1, 0 load, 0>1, 0>2, 0>2, 2>0, 0>2, 2>0, 2>1, 1>3, 0>2, 1>0, 1>2, 0>1, 1>0, 1 run the writer, 1>2, 2>1, 1>0, 1>3, 0>1, 3>1, 3 store, 1 evict, 1>0, 0>1, 1>0, 1 store, 0>1, 1>0, 0>1, 3>0, 0 run the reader, 0>1, 0>1, 1>0, 0 load, 0>1, 0>2, 1>2, 1>3, 2 run the writer, 0>3, 0>3, 2>1, 2 run the reader, 1 run the writer, 1>3, 1>3, 3 run the writer, 3 evict, 1>2, 3>0, 2>0, 3 store, 0>2, 0>1, 0>3, 1>2, 3>0, 0>3, 1>0, 0>1, 1>0, 0>1, 0>1, 1>0, 0>2, 2>3, 0>2, 3>0, 2>1, 2>1, 0>2, 2>0, 2>0, 0 run the writer, 0>2, 2>3, 2>0, 0>2, 0>3, 2>1, 1>2, 2 run the reader, 3>2, 2>3, 3>0, 2 load, 2>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 2 to 2
  cache IM/ForwardSharedLast -> IM: answerAll
  - writes its bytes to 2
  - sends AnswerOwner (1) for 2 to 2
  tokens: 1, the owner token, the bytes -> 0
  home has sharers: 3 -> 2, 3

3 nodes: 1 store, 1>0, 0>1, 0 store, 0>1, 0>1, 0 load, 2 store, 2>0, 0>2, 1 run the writer, 1>0, 0 run the writer, 0 run the reader, 0>2, 2 run the writer, 0 store, 1 store, 1>0, 0>1, 0>2, 2>0, 0 run the writer, 0>1, 0>1, 0>2, 2 store, 1 load, 2>0, 0>2, 2>1, 1 run the reader, 1>0, 0 run the reader, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1 run the writer, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2 load, 2>0, 2 store, 0>2, 0>1, 0>1, 1>2, 1>0, 0>1, 1>0, 1>2, 2>1, 1 run the writer, 1>0, 0>1, 0 run the writer, 0 store, 0>2, 2 run the writer, 0>1, 2>0, 2 run the reader, 0>2, 1>0, 0>1, 0>2, 1 load, 1>0, 0>1, 2>0, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 1>2, 0 load, 1>0, 1>0, 0>2, 0 store, 0>1, 2 run the writer, 2 store, 0>2, 2>0, 0>1, 0>2, 2>1, 1 run the reader, 1>0, 1>2, 1>2, 1>0, 0 run the writer, 0>2, 2>0, 0>2, 2 run the writer, 2 evict, 2 load, 2>0, 0>2, 2>0, 0>2, 2>0
  directory H/GetShared -> H: askHolder, addSharer
  - sends Asked (1) for 2 to 2
  cache IM/ForwardShared -> IM: answerShared
  - writes its bytes to 2
  - sends AnswerData (1) for 2 to 2
  tokens: 3, the owner token, the bytes -> 2, the owner token, the bytes
  home has sharers: none -> 2

2 nodes: 1 store, 1>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (1) for 1 to 1
  cache M/ForwardModified -> I: unmap, answerAll
  - unmaps
  - writes its bytes to 1
  - sends AnswerOwner (2) for 1 to 1
  copy: M -> I
  tokens: 2, the owner token, the bytes -> 0
  home has owner: none -> 1
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 2>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (2) for 2 to 2
  - sends ForwardModified for 2 to 1, bytes at 2
  cache I/ForwardMiss -> I: answerNothing
  - sends Answer for 2 to 2
  home has owner: 1 -> 2
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0 load, 2>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (2) for 2 to 2
  - sends ForwardModified for 2 to 1, bytes at 2
  cache IS_A/ForwardMiss -> IS_A: defer
  home has owner: 1 -> 2
  put off: none -> ForwardModified for 2
  home has changed owners once more

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 store, 1>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (1) for 1 to 1
  cache O/ForwardModified -> I: unmap, answerAll
  - unmaps
  - writes its bytes to 1
  - sends AnswerOwner (1) for 1 to 1
  copy: O -> I
  tokens: 1, the owner token, the bytes -> 0
  home has owner: none -> 1
  home has sharers: 1 -> none
  home has changed owners once more

2 nodes: 1 load, 1>0, 0 store, 0>1, 0>1, 1 store, 1>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (1) for 1 to 1
  cache SM_A/ForwardModified -> SM_A: defer
  home has owner: none -> 1
  put off: none -> ForwardModified for 1
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0 load, 0>1, 1>0, 2>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (1) for 2 to 2
  cache IS_A/ForwardModified -> IS_A: defer
  home has owner: none -> 2
  put off: none -> ForwardModified for 2
  home has changed owners once more

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 1 store, 2>0, 0>1, 1>0, 0>1, 1>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (2) for 1 to 1
  - sends ForwardModified for 1 to 2, bytes at 1
  cache I/ForwardModified -> I: answerAll
  - sends Answer (1) for 1 to 1
  tokens: 1 -> 0
  home has owner: 2 -> 1
  home has changed owners once more

3 nodes: 1 load, 1>0, 0>1, 2 load, 2>0, 0>1, 1 run the reader, 0 store, 0>1, 2 store, 1 store, 0>2, 1>0, 0>2, 0>2, 2 run the writer, 2>0, 0>2, 2>0, 0 run the writer, 0>2, 0 load, 0 store, 2 run the reader, 2 evict, 2>0, 1>0, 0>1, 2 run the writer, 0>2, 2>0, 0 run the writer, 0>1, 0>1, 0>2, 0>2, 2>0, 2>1, 0>2, 2>0, 0>2, 1>2, 1>0, 0>1, 1>0, 1>2, 0>1, 1 run the writer, 1 store, 1>0, 2>1, 0 run the reader, 0 load, 0>1, 1>0, 1>0, 0>2, 2 run the writer, 2 evict, 0>2, 2>0, 2 store, 2>0, 0 run the reader, 0 load, 0>2, 2>0, 0>2, 2>0, 0>2, 2>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (2) for 2 to 2
  - sends ForwardModified for 2 to 1, bytes at 2
  cache IS/ForwardModified -> IS: answerAll
  - sends Answer (1) for 2 to 2
  tokens: 1 -> 0
  home has owner: none -> 2
  home has sharers: 1 -> none
  home has changed owners once more

3 nodes: 1 store, 1>0, 0>1, 0 store, 0>1, 0>1, 0 load, 2 store, 2>0, 0>2, 1 run the writer, 1>0, 0 run the reader, 0>2, 2 run the writer, 1 store, 2 evict, 2>0, 0>2, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2 load, 2 store, 2>0, 0>2, 0>1, 0>1, 1>2, 1>0, 0>1, 1>0, 1>2, 2>1, 1 run the writer, 1>0, 0>1, 0 run the writer, 0 store, 0>2, 0>1, 2 run the writer, 2>0, 0>2, 1 load, 1>0, 0>1, 0>2, 1>0, 0>1, 2>0, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 1>2, 0 load, 0>2, 2 run the writer, 1>0, 2 evict, 2>0, 2 store, 0>2, 0>2, 2>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (2) for 2 to 2
  - sends ForwardModified for 2 to 1, bytes at 2
  cache IS_P/ForwardModified -> IS_P: defer
  home has owner: none -> 2
  home has sharers: 1 -> none
  put off: none -> ForwardModified for 2
  home has changed owners once more

3 nodes: 1 store, 1>0, 0>1, 0 store, 0 load, 2 store, 2>0, 0>2, 1 load, 0>1, 0>1, 1 run the reader, 1>0, 0 run the reader, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1 run the writer, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2 load, 2>0, 2 store, 0>2, 0>1, 0>1, 1>2, 1>0, 0>1, 1>0, 1>2, 2>1, 1 run the writer, 1>0, 0>1, 0 run the writer, 0 store, 0>2, 2 run the writer, 0>1, 2>0, 0>2, 1 load, 1>0, 0>1, 0>2, 1>0, 0>1, 2>0, 1 store, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 1>2, 0 load, 1>0, 1>0, 0>2, 0 store, 0>1, 2 run the writer, 2 store, 0>2, 2>0, 0>1, 0>2, 2>1, 1 run the writer, 1>0, 1>2, 1>2, 2>1, 1>0, 0 run the writer, 0>2, 2>0, 0>2, 2 run the writer, 2 evict, 0>1, 2>0, 0>2, 2>0, 1>0
  directory H/GetModified -> H: askHolders, expectAlone
  - sends Asked (1) for 1 to 1
  cache IM/ForwardModified -> IM: answerAll
  - writes its bytes to 1
  - sends AnswerOwner (3) for 1 to 1
  tokens: 3, the owner token, the bytes -> 0
  home has owner: none -> 1
  home has changed owners once more

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>1, 0>2, 2>0, 2>1, 1>0
  directory H/ActivateShared -> H: expectOwner
  cache M/StarvingShared -> S: protect, yieldOwner
  - protects
  - writes its bytes to 1
  - sends TokensOwner (2) for 1 to 1
  copy: M -> S
  tokens: 3, the owner token, the bytes -> 1, the bytes
  home has owner: none -> 1
  starving: none -> 1 to read
  home has changed owners once more

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0 load, 0>1, 0>2, 2>0, 2>1, 1>0
  directory H/ActivateShared -> H: expectOwner
  cache IS_A/StarvingShared -> IS_A: yieldOwner
  - writes its bytes to 1
  - sends TokensOwner (2) for 1 to 1
  tokens: 3, the owner token, the bytes -> 1, the bytes
  home has owner: none -> 1
  starving: none -> 1 to read
  home has changed owners once more

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0 store, 0>1, 0>2, 2>0, 2>1, 1>0
  directory H/ActivateShared -> H: expectOwner
  cache IM_A/StarvingShared -> IM_A: yieldOwner
  - writes its bytes to 1
  - sends TokensOwner (2) for 1 to 1
  tokens: 3, the owner token, the bytes -> 1, the bytes
  home has owner: none -> 1
  starving: none -> 1 to read
  home has changed owners once more

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2 load, 2>0, 0>2, 1>0, 0>1, 0>2, 2>0, 0>2, 2>0, 2>1, 1>0
  directory H/ActivateShared -> H: expectOwner
  cache O/StarvingShared -> S: yieldOwner
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  copy: O -> S
  tokens: 2, the owner token, the bytes -> 1, the bytes
  home has owner: none -> 1
  starving: none -> 1 to read
  home has changed owners once more

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2 load, 2>0, 0>2, 1>0, 0>1, 0>2, 2>0, 0>2, 2>0, 0 store, 2>1, 1>0
  directory H/ActivateShared -> H: expectOwner
  cache SM_A/StarvingShared -> SM_A: yieldOwner
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  tokens: 2, the owner token, the bytes -> 1, the bytes
  home has owner: none -> 1
  starving: none -> 1 to read
  home has changed owners once more

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0>1, 0>2, 0>2, 1>0, 1>2, 2>0
  directory H/ActivateModified -> H: expectAlone
  cache I/StarvingModified -> I: yieldAll
  - sends Tokens (1) for 2 to 2
  tokens: 1 -> 0
  starving: none -> 2 to write
  home has changed owners once more

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 load, 0>1, 0>2, 0>2, 1>0, 1>2, 2>0
  directory H/ActivateModified -> H: expectAlone
  cache IS_A/StarvingModified -> IS_A: yieldAll
  - sends Tokens (1) for 2 to 2
  tokens: 1 -> 0
  starving: none -> 2 to write
  home has changed owners once more

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 0>1, 0>2, 0>2, 1>0, 1>2, 2>0
  directory H/ActivateModified -> H: expectAlone
  cache IM_A/StarvingModified -> IM_A: yieldAll
  - sends Tokens (1) for 2 to 2
  tokens: 1 -> 0
  home has owner: none -> 2
  starving: none -> 2 to write
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>0, 1>2, 2>0
  directory H/ActivateModified -> H: expectAlone
  cache M/StarvingModified -> I: unmap, yieldAll
  - unmaps
  - writes its bytes to 2
  - sends TokensOwner (3) for 2 to 2
  copy: M -> I
  tokens: 3, the owner token, the bytes -> 0
  home has owner: none -> 2
  starving: none -> 2 to write
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1 load, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>0, 0>1, 1>0, 1>2, 2>0
  directory H/ActivateModified -> H: expectAlone
  cache O/StarvingModified -> I: unmap, yieldAll
  - unmaps
  - writes its bytes to 2
  - sends TokensOwner (2) for 2 to 2
  copy: O -> I
  tokens: 2, the owner token, the bytes -> 0
  home has owner: none -> 2
  home has sharers: 1 -> none
  starving: none -> 2 to write
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1 load, 1>0, 0>1, 2>0, 0>1, 0>2, 0>2, 1>0, 0>1, 1>0, 0 store, 1>2, 2>0
  directory H/ActivateModified -> H: expectAlone
  cache SM_A/StarvingModified -> IM_A: unmap, yieldAll
  - unmaps
  - writes its bytes to 2
  - sends TokensOwner (2) for 2 to 2
  copy: SM_A -> IM_A
  tokens: 2, the owner token, the bytes -> 0
  home has owner: none -> 2
  starving: none -> 2 to write
  home has changed owners once more

3 nodes: 1 store, 2 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 1 evict, 0>1, 1>0, 0>1, 1>0, 2>0, 0>1, 0>2, 1>0, 0 run the reader, 0 load, 0>2, 0>2, 1>2, 2>0, 0 run the reader, 0 store, 2>0
  directory H/ActivateModified -> H: expectAlone
  cache OM/StarvingModified -> IM: unmap, yieldAll
  - unmaps
  - writes its bytes to 2
  - sends TokensOwner (2) for 2 to 2
  copy: OM -> IM
  tokens: 2, the owner token, the bytes -> 0
  home has owner: none -> 2
  starving: none -> 2 to write
  home has changed owners once more

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0
  directory H/PutOffer -> H: askForWriteBack
  - sends WriteBack for 1 to 1, home at 0

2 nodes: 1 load, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache O/TokensAll -> M
  copy: O -> M
  tokens: 1, the owner token, the bytes -> 2, the owner token, the bytes
  home has sharers: 1 -> none

2 nodes: 1 load, 1>0, 0 store, 0>1, 0>1, 1 run the reader, 1 evict, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache SM_A/TokensAll -> SM_A
  tokens: 1, the owner token, the bytes -> 2, the owner token, the bytes

3 nodes: 1 load, 2 load, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache O/TokensOwner -> O
  tokens: 1, the owner token, the bytes -> 2, the owner token, the bytes
  home has sharers: 1, 2 -> 2

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache I/TokensBare -> I
  tokens: 0 -> 1

3 nodes: 1 load, 2 load, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache SM_A/TokensOwner -> SM_A
  tokens: 1, the owner token, the bytes -> 2, the owner token, the bytes

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 load, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache IS_A/TokensBare -> IS_A
  tokens: 0 -> 1

3 nodes: 1 load, 2 store, 1>0, 0>1, 0>1, 1 run the reader, 1 evict, 2>0, 0 store, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache IM_A/TokensBare -> IM_A
  tokens: 0 -> 1

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 1>0, 0>1, 0>2, 2>0, 2>1, 1 run the reader, 1 evict, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache S/TokensShared -> S
  tokens: 1, the bytes -> 2, the bytes
  home has sharers: 1 -> none

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 0>2, 1>0, 0>1, 0>2, 2>0, 0 store, 2>1, 1 run the reader, 1 evict, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache SM_A/TokensShared -> SM_A
  tokens: 1, the bytes -> 2, the bytes

3 nodes: 2 store, 2>0, 0>2, 0>2, 2 run the writer, 1 load, 1>0, 0>1, 0>2, 0 load, 2>1, 2 store, 0>2, 1 run the reader, 2>0, 2>0, 0 store, 1 evict, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache SM/TokensShared -> SM
  tokens: 1, the bytes -> 2, the bytes

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0 store, 0>1, 0>1, 2>0, 0>2, 1>0, 1>0, 0 run the writer, 0 load, 0>2, 2 run the writer, 0>2, 2 evict, 2>0, 0 store, 2>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache OM/TokensAll -> OM
  tokens: 2, the owner token, the bytes -> 3, the owner token, the bytes

3 nodes: 1 load, 2 store, 1>0, 0>1, 1 store, 0>1, 1 run the writer, 1>0, 0>1, 0>1, 2 load, 0 store, 0>1, 1 run the writer, 0 load, 2>0, 1>0, 0 run the reader, 0>2, 0>2, 2 run the reader, 2 evict, 2 load, 2>0, 1 store, 0 run the writer, 1>0, 0>1, 0>2, 0>2, 2>0, 2>0, 0>2, 0 run the writer, 2>0, 0 load, 0>2, 0>2, 0>1, 0 store, 1 run the reader, 1 evict, 2>1, 0>2, 2>0, 1>2, 1>0, 2>0, 0>1, 2 run the reader, 2>0, 0 run the writer, 0>1, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache OM/TokensOwner -> OM
  tokens: 1, the owner token, the bytes -> 2, the owner token, the bytes

3 nodes: 1 load, 1>0, 0>1, 2 load, 2>0, 0>1, 0 store, 0>1, 2 store, 1 store, 1>0 without memory, 0>2, 0>1, 1 store, 1>0, 0>2, 0>2, 2 run the writer, 2>0, 0>2, 2>0, 0 run the writer, 0>2, 0 load, 0 store, 2 run the reader, 2 evict, 2>0, 1>0, 0>1, 2 run the writer, 0>2, 2>0, 0 run the writer, 0>1, 0>1, 0>2, 0>2, 2>0, 2>1, 0>2, 2>0, 0>2, 1>2, 1>0, 0>1, 1>0, 1>2, 0>1, 1 run the writer, 1 store, 1>0, 2>1, 0 run the reader, 0 load, 0>1, 1>0, 1>0, 0>2, 2 run the writer, 2 evict, 0>2, 2>0, 2>0, 0 run the reader, 0 load, 0>2, 2>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache IS/TokensBare -> IS
  tokens: 0 -> 1

3 nodes: 1 store, 1>0, 0>1, 0 store, 0>1, 0>1, 0 load, 1 run the writer, 1>0, 0 run the writer, 1 store, 1>0, 0 store, 1 load, 0>1, 0>1, 0>1, 2 store, 2>0, 0>2, 1 run the reader, 1>0, 0 run the reader, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1 run the writer, 1>0, 0>2, 0 run the writer, 2>1, 0>1, 2>0, 0>2, 2 load, 2>0, 2 store, 0>2, 0>1, 0>1, 1>2, 1>0, 0>1, 1>0, 1>2, 2>1, 1 run the writer, 1>0, 0>1, 0 run the writer, 0 store, 0>2, 2 run the writer, 0>1, 2>0, 0>2, 1>0, 0>1, 0>2, 1 load, 1>0, 0>1, 2>0, 0>2, 2>0, 0>1, 0 run the writer, 0>1, 1>2, 0 load, 0>2, 2 run the writer, 1>0, 2 evict, 2>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache IS_P/TokensBare -> IS_P
  tokens: 0 -> 1

4 nodes: 3 store, 3>0, 0>3, 0>3, 3 run the writer, 2 load, 2>0, 3 evict, 1 load, 1 store, 3>0, 1>0, 0>1, 0>2, 2 store, 0>3, 3 store, 3>2, 2 run the writer, 2>0, 0>2, 0>3, 0>3, 0>3, 3>0, 0>1, 3>1, 0 store, 1>3, 0>2, 0>2, 0 load, 2>0, 0 run the reader, 0>1, 1>2, 0>2, 0>1, 2>0, 1>0, 1>0, 0>1, 1>0, 0>1, 3 load, 1>3, 3>1, 1>2, 1 run the writer, 1>2, 2>1, 0 run the writer, 1>0, 0>1, 0>1, 0>3, 0>3, 1>0, 3>0, 0>3, 0>3, 1>3, 3>0, 0>1, 0>3, 0>3, 1>2, 2>1, 1>0, 1 run the writer, 1>2, 0>1, 1 run the reader, 3>2, 0 load, 1>3, 1 store, 2>1, 1>3, 3 run the reader, 3>0, 2>0, 3>1, 2>3, 0 run the writer, 0 store, 0>2, 1>0, 2 run the writer, 0>2, 3 run the writer, 3>0, 0>3, 2>3, 2 run the reader, 3>2, 0>1, 2>0, 2>0, 0 run the reader, 2>1, 0>1, 0>1, 0 load, 1 run the writer, 1>2, 2>1, 1>3, 1>0, 0>1, 1>2, 0>2, 2>0, 0>2, 3 load, 0>3, 3>2, 0>3, 3>1, 0>1, 0>3, 3>0, 2>3, 3>0, 3 run the reader, 3 load, 3>2, 3>0, 2>3, 0>3, 0 run the reader, 0>1, 0 load, 3>1, 3>1, 1>2, 1>3, 0>3, 3>0, 0>3, 1>3, 0>1, 3>0, 1>3, 1>0, 0>2, 1>0, 0>2, 0 run the writer, 0>1, 0>3, 1>0, 0>3, 3>0, 0>3, 3>0, 0>1, 2>0, 3>1, 1>2, 1 run the writer, 1>2, 2 run the reader, 1>0, 2 evict, 0>1, 1>0, 2>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache IM_A/TokensShared -> IM_A
  tokens: 1, the bytes -> 2, the bytes

4 nodes: 2 store, 2>0, 0 store, 2 load, 0>2, 0 load, 0>2, 2 run the reader, 1 load, 0>2, 3 store, 3>0, 2>0, 0 run the reader, 2 load, 0 load, 1>0, 0>1, 1 store, 3 load, 2>0, 0>3, 0>2, 0>3, 3 run the writer, 0>3, 3>0, 3 evict, 3>0, 0 run the writer, 0>2, 0>3, 0>1, 0 late load, 3>1, 0>3, 3>2, 2 run the writer, 0 run the reader, 1 run the reader, 2>0, 2>0, 3 store, 0>3, 1>0, 3>0, 0>2, 0>3, 3>0, 0>2, 2 run the writer, 0>3, 1 run the writer, 1>0, 0 load, 3>0, 0>3, 2 evict, 2>0, 0>2, 0>1, 2 store, 1 load, 0>1, 1>0, 0>1, 0>1, 2>0, 0>1, 1>3, 1>2, 1>0, 1>2, 2>1, 1 run the writer, 1>0, 0>2, 0>1, 2>0, 0>2, 1 store, 0 run the writer, 0>2, 0>3, 1>3, 1>3, 3>0, 3>1, 0>2, 2>0, 2>1, 3>1, 2>3, 3>1, 3>2, 3>2, 1>0, 0>1, 0>2, 1>2, 2 run the writer, 2 run the reader, 2>0, 2>3, 2>3, 3>0, 3>1, 1>3, 0>3, 0>2, 3 run the writer, 3>2, 2>0, 0>2, 2 store, 0>3, 2>1, 1>2, 2>1, 3>0, 0 run the writer, 0>2, 0>3, 0 run the reader, 2>0, 0>1, 3>0, 2>0, 0>2, 0>2, 3>2, 2>3, 3 store, 3>0, 0 store, 0>3, 2>3, 2>1, 2>0, 0>1, 1>0, 0>1, 1 run the reader, 0>2, 1>2, 1 evict, 0>2, 2>0, 2 run the writer, 2>0, 1 load, 2>3, 0>2, 0>2, 0>1, 1 run the writer, 2>3, 3>2, 1>0, 0>3, 0>3, 3>1, 0>1, 1>0, 0>3, 2>1, 0>2, 1>2, 2>0, 3>0, 3>0, 3>2, 0>3, 3>0, 2>1, 0 run the reader, 0>3, 3>2, 3>0, 0>3, 0>2, 3>1, 0>2, 0 run the writer, 0>2, 3 run the reader, 3 run the writer, 3>1, 3 load, 0 load, 1>0, 0>1, 0>1, 1>3, 0>1, 0>1, 1>3, 2>0, 1>0, 0>3, 1>0, 2>3, 1>2, 3>0, 0>1, 0>3, 0>1, 1 run the reader, 1>0, 1>0, 0 run the writer, 0>3, 3>0, 0>3, 3>0, 0>1, 1>3, 1>2, 1>2, 0 run the reader, 0>3, 3 run the reader, 2>3, 3>2, 1 load, 2>3, 2>0, 0>1, 2 run the reader, 3 load, 1>0, 3>0, 0>3, 3>1, 2>1, 0>2, 0>2, 0>2, 2>1, 1>0, 2>1, 0>2, 1>2, 2>1, 2>3, 3>1, 0>1, 2>0, 1>2, 1>0, 2>0, 3>0, 2>0, 1>3, 0>1, 1>0, 1>3, 3>1, 1>2, 2>1, 0>1, 1 run the reader, 1 evict, 1>0
  directory H/PutTokens -> H: removeSharer, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache IS_A/TokensShared -> IS_A
  tokens: 1, the bytes -> 2, the bytes
  home has sharers: 1, 2, 3 -> 2, 3

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0>1, 1>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache I/TokensAll -> M
  copy: I -> M
  tokens: 0 -> 2, the owner token, the bytes
  home has owner: 1 -> none

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0 load, 0>1, 1>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache IS_A/TokensAll -> IS_A
  tokens: 0 -> 2, the owner token, the bytes
  home has owner: 1 -> none

2 nodes: 1 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0 store, 0>1, 1>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache IM_A/TokensAll -> IM_A
  tokens: 0 -> 2, the owner token, the bytes

2 nodes: 1 store, 1>0, 0 load, 0>1, 0>1, 1 run the writer, 1 evict, 0>1, 1>0, 0>1, 1>0, 1>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache S/TokensAll -> M
  copy: S -> M
  tokens: 1, the bytes -> 2, the owner token, the bytes
  home has owner: 1 -> none

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 1>0, 0>2, 2>0, 0>2, 2>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache I/TokensOwner -> O
  copy: I -> O
  tokens: 0 -> 2, the owner token, the bytes
  home has owner: 2 -> none

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 1>0, 0>2, 2>0, 0 load, 0>2, 2>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache IS_A/TokensOwner -> IS_A
  tokens: 0 -> 2, the owner token, the bytes
  home has owner: 2 -> none

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 1>0, 0>2, 2>0, 0 store, 0>2, 2>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache IM_A/TokensOwner -> IM_A
  tokens: 0 -> 2, the owner token, the bytes

3 nodes: 1 load, 2 store, 2>0, 0 load, 0>2, 0>2, 2 run the writer, 2 evict, 0>2, 1>0, 0>2, 2>0, 0>2, 2>0, 2>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache S/TokensOwner -> O
  copy: S -> O
  tokens: 1, the bytes -> 2, the owner token, the bytes
  home has owner: 2 -> none

3 nodes: 1 load, 2 store, 2>0, 0>2, 0>2, 2 run the writer, 2 evict, 2>0, 0>2, 1>0, 0>1, 0>2, 2>1, 1>0, 2>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache I/TokensAll -> M
  cache M/StarvingShared -> S: protect, yieldOwner
  - protects
  - writes its bytes to 1
  - sends TokensOwner (2) for 1 to 1
  copy: I -> S
  tokens: 0 -> 1, the bytes
  home has owner: 1 -> none
  home has sharers: 1, 2 -> 1

3 nodes: 1 store, 2 store, 2>0, 0>2, 0>2, 0 load, 0 store, 2 run the writer, 2 evict, 0>2, 2>0, 0>2, 1>0, 2>0, 0 pin, 0 run the writer, 2>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache SM/TokensAll -> OM
  copy: SM -> OM
  tokens: 1, the bytes -> 3, the owner token, the bytes

4 nodes: 3 store, 1 store, 1>0, 0>1, 0>1, 1 run the writer, 2 load, 1 evict, 2>0, 0 load, 0>1, 0>1, 1>0, 1>0, 3>0, 0>1, 0 store, 1>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  cache SM/TokensOwner -> OM
  copy: SM -> OM
  tokens: 1, the bytes -> 3, the owner token, the bytes

3 nodes: 1 store, 2 store, 1>0, 0>1, 0>1, 1 run the writer, 1 evict, 1>0, 0 store, 0>1, 0>1, 2>0, 0>2, 1>0, 1>0, 0 run the writer, 0>2, 2 run the writer, 2 evict, 2>0, 0 load, 0>2, 2>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  cache IS_P/TokensAll -> M: mapWritable, deactivate
  - maps to write
  - sends Deactivate to 1
  - sends Deactivate to 2
  copy: IS_P -> M
  copy waits for: 0 -> 2
  tokens: 0 -> 3, the owner token, the bytes
  starving: 0 to read -> none

4 nodes: 2 load, 2>0, 0>2, 2 store, 0>2, 1 load, 2 run the writer, 2>0, 0>2, 0 store, 0>2, 0>2, 1 store, 0 load, 3 store, 3>0, 0>3, 2 run the writer, 2>0, 0 run the writer, 1>0, 0 run the reader, 0>1, 2 run the reader, 2>0, 0>2, 0>3, 3 run the writer, 0 store, 3 evict, 3>0, 0>3, 0>3, 3>1, 0>3, 3>2, 2 run the reader, 2 evict, 2>0, 0>2, 2 load, 2>0, 1 run the writer, 0>2, 1>0, 0>3, 0>3, 3>2, 2>0, 3>0, 0 run the writer, 3>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 3 to 3
  cache IM_A/TokensOwner -> IM_A
  cache IM_A/StarvingSharedLast -> IM_A: yieldAll
  - writes its bytes to 2
  - sends TokensOwner (1) for 2 to 2

4 nodes: 2 load, 2>0, 0>2, 2 store, 0>2, 2 run the writer, 2>0, 0>2, 0 store, 0>2, 0>2, 0 load, 3 store, 3>0, 0>3, 2 run the writer, 2>0, 0 run the writer, 1 load, 1>0, 0 run the reader, 0>1, 2 run the reader, 2>0, 0>2, 0>3, 3 run the writer, 1 store, 3 evict, 3>0, 0>3, 0>3, 3>1, 0>3, 3>2, 2 run the reader, 2 evict, 2>0, 0>2, 2 load, 2>0, 1 run the writer, 0>2, 1>0, 0>3, 0>3, 3>2, 2>0, 3>0, 0 run the reader, 0 load, 3>0
  directory H/PutOwner -> H: removeSharer, clearOwner, takeTokens, acknowledgePut
  - sends PutAcknowledged for 3 to 3
  cache IS_A/TokensOwner -> IS_A
  cache IS_A/StarvingSharedLast -> IS_A: yieldAll
  - writes its bytes to 2
  - sends TokensOwner (1) for 2 to 2
  home has owner: 2 -> none

4 nodes: node 2 posed in I with 1, the bytes; Tokens (1) for 1
  cache I/TokensShared -> S
  copy: I -> S
  tokens: 1, the bytes -> 2, the bytes

4 nodes: node 2 posed in I with 1, the owner token, the bytes; ActivateShared for 1
  cache I/StarvingSharedLast -> I: yieldAll
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  tokens: 1, the owner token, the bytes -> 0
  starving: none -> 1 to read

4 nodes: node 2 posed in SM with 1, the owner token, the bytes; ForwardShared for 1
  cache SM/ForwardSharedLast -> IM: unmap, answerAll
  - unmaps
  - writes its bytes to 1
  - sends AnswerOwner (1) for 1 to 1
  copy: SM -> IM
  tokens: 1, the owner token, the bytes -> 0

4 nodes: node 2 posed in SM with 1, the owner token, the bytes; ActivateShared for 1
  cache SM/StarvingSharedLast -> IM: unmap, yieldAll
  - unmaps
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  copy: SM -> IM
  tokens: 1, the owner token, the bytes -> 0
  starving: none -> 1 to read

4 nodes: node 2 posed in IM_P with 1, the owner token, the bytes; ActivateShared for 1
  cache IM_P/StarvingSharedLast -> IM_P: yieldAll
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  tokens: 1, the owner token, the bytes -> 0
  starving: none -> 1 to read

4 nodes: node 2 posed in SM_P with 1, the owner token, the bytes; ActivateShared for 1
  cache SM_P/StarvingSharedLast -> IM_P: unmap, yieldAll
  - unmaps
  - writes its bytes to 1
  - sends TokensOwner (1) for 1 to 1
  copy: SM_P -> IM_P
  tokens: 1, the owner token, the bytes -> 0
  starving: none -> 1 to read
`
