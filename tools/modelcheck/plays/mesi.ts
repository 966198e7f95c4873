/** Written by `node scripts/protocol-plays.mjs`: see recorded-plays.ts. */
export const mesi: string = `
2 nodes: 0 load
  cache I/Load -> IS: requestShared
  directory U/GetShared -> X_B: setOwner, sendExclusive
  cache IS/DataExclusive -> E: mapReadOnly, unblock
  - maps to read
  directory X_B/Unblock -> X
  copy: I -> E
  home: U -> X
  home has owner: none -> 0
  home has changed owners once more

2 nodes: 1 load, 1>0, 0 load
  cache I/Load -> IS: requestShared
  directory X_B/GetShared -> X_B: queue
  copy: I -> IS
  home keeps: none -> GetShared for 0

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict, 1>0, 1>0, 0 load
  cache I/Load -> IS: requestShared
  directory X_P/GetShared -> X_P: queue
  copy: I -> IS
  home keeps: none -> GetShared for 0

2 nodes: 0 store
  cache I/Store -> IM: requestModified
  directory U/GetModified -> X_B: setOwner, sendModified
  cache IM/GrantLast -> M: mapWritable, unblock
  - maps to write
  directory X_B/Unblock -> X
  copy: I -> M
  home: U -> X
  home has owner: none -> 0
  home has changed owners once more

2 nodes: 1 load, 1>0, 0 store
  cache I/Store -> IM: requestModified
  directory X_B/GetModified -> X_B: queue
  copy: I -> IM
  home keeps: none -> GetModified for 0

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict, 1>0, 1>0, 0 store
  cache I/Store -> IM: requestModified
  directory X_P/GetModified -> X_P: queue
  copy: I -> IM
  home keeps: none -> GetModified for 0

2 nodes: 1 evict
  cache I/Evict -> I: evicted
  - gives its frame back

2 nodes: 1 load, 1 load
  cache IS/Load -> IS

2 nodes: 1 load, 1 store
  cache IS/Store -> IS

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1
  cache IS/DataShared -> S: mapReadOnly, unblock
  - maps to read
  - sends Unblock to 0
  copy: IS -> S

2 nodes: 1 load, 1>0, 0 load, 0>1, 1 run the reader, 1>0, 0>1, 1>0
  cache IS/DataShared -> S: mapReadOnly, unblock
  - maps to read
  directory S_DB/Unblock -> S_D
  copy: IS -> S
  home: S_DB -> S_D

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

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 store, 1>0, 1>0, 0>1, 1>0, 0>1
  cache IM/GrantMore -> IM_A
  copy: IM -> IM_A
  copy waits for: 0 -> 1, granted

2 nodes: 1 load, 1>0, 0 store, 0>1, 1 run the reader, 1 evict, 1>0, 0>1, 1>0, 1>0
  cache IM/GrantLast -> M: mapWritable, unblock
  - maps to write
  directory X_B/Unblock -> X
  directory X/PutStale -> X: acknowledgePut
  - sends PutAcknowledged for 1 to 1
  copy: IM -> M
  home: X_B -> X
  home keeps: PutClean for 1 -> none

3 nodes: 0 load, 0 run the reader, 1 load, 2 store, 1>0, 0>1, 1 run the reader, 1>0, 2>0, 0>1, 1>2
  cache IM/AckMore -> IM
  copy waits for: 0 -> -1

2 nodes: 1 store, 1>0 lost, 0>1
  cache IM/Refused -> I: fail
  - tells its program that the page cannot be had
  copy: IM -> I

2 nodes: 1 store, 1>0 without memory, 0>1
  cache IM/NoMemory -> I: fail
  - tells its program that the page cannot be had
  copy: IM -> I

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 store, 1>0, 1>0, 0>1, 1>0, 0>1, 1 load
  cache IM_A/Load -> IM_A

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 store, 1>0, 1>0, 0>1, 1>0, 0>1, 1 store
  cache IM_A/Store -> IM_A

3 nodes: 0 load, 0 run the reader, 1 load, 2 store, 1>0, 0>1, 1>0, 2>0, 0>2, 0>2
  cache IM_A/AckMore -> IM_A
  copy waits for: 2, granted -> 1, granted

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 store, 1>0, 1>0, 0>1, 1>0, 0>1, 0>1
  cache IM_A/AckLast -> M: mapWritable, unblock
  - maps to write
  - sends Unblock to 0
  copy: IM_A -> M
  copy waits for: 1, granted -> 0

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 late load
  cache S/Load -> S: mapReadOnly
  - maps to read

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 store
  cache S/Store -> SM: requestModified
  directory S_B/Upgrade -> S_B: queue
  copy: S -> SM
  home keeps: none -> GetModified for 0

2 nodes: 1 load, 1>0, 0 load, 0>1, 1 run the reader, 1>0, 0>1, 1>0, 0 store
  cache S/Store -> SM: requestModified
  directory S_D/Upgrade -> S_D: queue
  copy: S -> SM
  home keeps: none -> GetModified for 0

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 1>0, 0 store
  cache S/Store -> SM: requestModified
  directory S/Upgrade -> X_B: invalidateSharers, grant, setOwner
  cache SM/GrantLast -> M: mapWritable, unblock
  - maps to write
  directory X_B/Unblock -> X
  copy: S -> M
  home: S -> X
  home has owner: none -> 0
  home has sharers: 0 -> none
  home has changed owners once more

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict
  cache S/Evict -> SI_A: unmap, putShared
  - unmaps
  - sends PutShared to 0
  copy: S -> SI_A

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 store, 0 late load
  cache SM/Load -> SM: mapReadOnly
  - maps to read

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 store, 0 store
  cache SM/Store -> SM

2 nodes: 0 load, 0 run the reader, 1 load, 1 store, 1>0, 0 store, 0>1, 1 run the writer, 1>0, 0>1
  cache SM/Invalidate -> IM: unmap, acknowledge
  - unmaps
  - sends Acknowledge for 0 to 0
  copy: SM -> IM

3 nodes: 0 load, 0 run the reader, 1 load, 2 load, 1>0, 0>1, 1 store, 1>0, 2>0, 0>2, 2 run the reader, 1>0, 2>0, 0>2, 2>1
  cache SM/AckMore -> SM
  copy waits for: 0 -> -1

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 store, 1>0, 1>0 lost, 0>1
  cache SM/Refused -> S: fail
  - tells its program that the page cannot be had
  copy: SM -> S

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 store, 1>0, 1>0 without memory, 0>1
  cache SM/NoMemory -> S: fail
  - tells its program that the page cannot be had
  copy: SM -> S

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 store, 0>1, 1>0, 0 late load
  cache SM_A/Load -> SM_A: mapReadOnly
  - maps to read

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 store, 0>1, 1>0, 0 store
  cache SM_A/Store -> SM_A

3 nodes: 0 load, 0 run the reader, 1 load, 2 load, 1>0, 0>1, 1 run the reader, 1>0, 2>0, 0 store, 0>2, 2>0, 0>1, 1>0
  cache SM_A/AckMore -> SM_A
  copy waits for: 2, granted -> 1, granted

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 store, 0>1, 1 run the reader, 1>0, 0>1, 1>0
  cache SM_A/AckLast -> M: mapWritable, unblock
  - maps to write
  directory X_B/Unblock -> X
  copy: SM_A -> M
  copy waits for: 1, granted -> 0
  home: X_B -> X
  home has invalidated: 1 -> 0

2 nodes: 0 load, 0 late load
  cache E/Load -> E: mapReadOnly
  - maps to read

2 nodes: 0 load, 0 store
  cache E/Store -> M: mapWritable
  - maps to write
  copy: E -> M

2 nodes: 1 load, 1>0, 0>1, 1 run the reader, 1 evict
  cache E/Evict -> EI_A: unmap, putClean
  - unmaps
  - sends PutClean to 0
  copy: E -> EI_A

2 nodes: 0 store, 0 late load
  cache M/Load -> M: mapWritable
  - maps to write

2 nodes: 0 store, 0 late store
  cache M/Store -> M: mapWritable
  - maps to write

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict
  cache M/Evict -> MI_A: unmap, putDirty
  - unmaps
  - sends PutDirty to 0
  copy: M -> MI_A

3 nodes: 1 load, 2 store, 2>0, 0>2, 2 run the writer, 1>0, 2>0, 0>2
  cache M/ForwardShared -> S: protect, sendShared, writeBack, tellHome
  - protects
  - writes its bytes to 1
  - sends DataShared for 1 to 1
  - writes its bytes to 0
  - sends Downgraded to 0
  copy: M -> S

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 load
  cache SI_A/Load -> SI_A: demandLater
  copy is wanted: none -> read

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 store
  cache SI_A/Store -> SI_A: demandLater
  copy is wanted: none -> write

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 store, 0>1, 1 run the reader, 1 evict, 1>0, 0>1
  cache SI_A/Invalidate -> II_A: acknowledge
  - sends Acknowledge for 0 to 0
  copy: SI_A -> II_A

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 1>0, 0>1
  cache SI_A/PutAcknowledged -> I: evicted
  - gives its frame back
  copy: SI_A -> I

2 nodes: 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 load
  cache EI_A/Load -> EI_A: demandLater
  copy is wanted: none -> read

2 nodes: 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 store
  cache EI_A/Store -> EI_A: demandLater
  copy is wanted: none -> write

2 nodes: 1 load, 1>0, 0 load, 0>1, 1 run the reader, 1 evict, 1>0, 0>1
  cache EI_A/ForwardShared -> SI_A: sendShared, tellHome
  - writes its bytes to 0
  - sends DataShared for 0 to 0
  - sends Downgraded to 0
  copy: EI_A -> SI_A

2 nodes: 1 load, 1>0, 0 store, 0>1, 1 run the reader, 1 evict, 1>0, 0>1
  cache EI_A/ForwardModified -> II_A: sendModified
  - writes its bytes to 0
  - sends DataModified for 0 to 0
  copy: EI_A -> II_A

2 nodes: 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 1>0, 0>1
  cache EI_A/PutAcknowledged -> I: evicted
  - gives its frame back
  copy: EI_A -> I

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict, 1 load
  cache MI_A/Load -> MI_A: demandLater
  copy is wanted: none -> read

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict, 1 store
  cache MI_A/Store -> MI_A: demandLater
  copy is wanted: none -> write

2 nodes: 1 store, 1>0, 0 load, 0>1, 1 run the writer, 1 evict, 1>0, 0>1
  cache MI_A/ForwardShared -> SI_A: sendShared, writeBack, tellHome
  - writes its bytes to 0
  - sends DataShared for 0 to 0
  - sends Downgraded to 0
  copy: MI_A -> SI_A

3 nodes: 1 load, 2 store, 2>0, 0>2, 2 run the writer, 2 evict, 1>0, 2>0, 0>2
  cache MI_A/ForwardShared -> SI_A: sendShared, writeBack, tellHome
  - writes its bytes to 1
  - sends DataShared for 1 to 1
  - writes its bytes to 0
  - sends Downgraded to 0
  copy: MI_A -> SI_A

2 nodes: 1 store, 1>0, 0 store, 0>1, 1 run the writer, 1 evict, 1>0, 0>1
  cache MI_A/ForwardModified -> II_A: sendModified
  - writes its bytes to 0
  - sends DataModified for 0 to 0
  copy: MI_A -> II_A

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict, 1>0, 1>0, 0>1
  cache MI_A/WriteBack -> II_A: writeBack, sendWrittenBack
  - writes its bytes to 0
  - sends WrittenBack to 0
  copy: MI_A -> II_A

2 nodes: 1 load, 1>0, 0 store, 0>1, 1 run the reader, 1 evict, 1>0, 0>1, 1 load
  cache II_A/Load -> II_A: demandLater
  copy is wanted: none -> read

2 nodes: 1 load, 1>0, 0 store, 0>1, 1 run the reader, 1 evict, 1>0, 0>1, 1 store
  cache II_A/Store -> II_A: demandLater
  copy is wanted: none -> write

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict, 1>0, 1>0, 0>1, 1>0, 0>1
  cache II_A/PutAcknowledged -> I: evicted
  - gives its frame back
  copy: II_A -> I

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 load, 1>0, 1>0, 0>1, 1>0
  directory S/GetShared -> S_B: sendShared, addSharer
  - writes its bytes to 1
  - sends DataShared for 1 to 1
  home: S -> S_B
  home has sharers: 0 -> 0, 1

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1 store, 1>0, 1>0, 0>1, 1>0
  directory S/GetModified -> X_B: invalidateSharers, sendModified, setOwner
  - writes its bytes to 1
  - sends DataModified (1) for 1 to 1
  cache S/Invalidate -> I: unmap, acknowledge
  - unmaps
  - sends Acknowledge for 1 to 1
  copy: S -> I
  home: S -> X_B
  home has owner: none -> 1
  home has sharers: 0 -> none
  home has invalidated: 0 -> 1
  home has changed owners once more

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 1>0
  directory S/PutShared -> S: removeSharer, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  home has sharers: 0, 1 -> 0

3 nodes: 1 load, 2 load, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 2>0, 0>1, 1>0, 1>0, 1>2, 2 run the reader, 2 evict, 2>0, 2>0
  directory S/PutSharedLast -> U: removeSharer, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  home: S -> U
  home has sharers: 2 -> none

2 nodes: 0 load, 1 load, 1>0
  directory X/GetShared -> S_DB: forwardShared, ownerBecomesSharer, addSharer
  home: X -> S_DB
  home has owner: 0 -> none
  home has sharers: none -> 0, 1
  put off: none -> ForwardShared for 1

2 nodes: 0 load, 0 run the reader, 1 load, 1>0
  directory X/GetShared -> S_DB: forwardShared, ownerBecomesSharer, addSharer
  cache E/ForwardShared -> S: sendShared, tellHome
  - writes its bytes to 1
  - sends DataShared for 1 to 1
  directory S_DB/Downgraded -> S_B
  copy: E -> S
  home: X -> S_B
  home has owner: 0 -> none
  home has sharers: none -> 0, 1

2 nodes: 0 load, 1 store, 1>0
  directory X/GetModified -> X_B: forwardModified, setOwner
  home: X -> X_B
  home has owner: 0 -> 1
  put off: none -> ForwardModified for 1
  home has changed owners once more

2 nodes: 0 load, 0 run the reader, 1 store, 1>0
  directory X/GetModified -> X_B: forwardModified, setOwner
  cache E/ForwardModified -> I: unmap, sendModified
  - unmaps
  - writes its bytes to 1
  - sends DataModified for 1 to 1
  copy: E -> I
  home: X -> X_B
  home has owner: 0 -> 1
  home has changed owners once more

2 nodes: 0 store, 0 run the writer, 1 store, 1>0
  directory X/GetModified -> X_B: forwardModified, setOwner
  cache M/ForwardModified -> I: unmap, sendModified
  - unmaps
  - writes its bytes to 1
  - sends DataModified for 1 to 1
  copy: M -> I
  home: X -> X_B
  home has owner: 0 -> 1
  home has changed owners once more

2 nodes: 1 load, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 1>0
  directory X/PutClean -> U: clearOwner, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  home: X -> U
  home has owner: 1 -> none

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict, 1>0, 1>0
  directory X/PutDirty -> X_P: askForWriteBack
  - sends WriteBack for 1 to 1, home at 0
  home: X -> X_P

3 nodes: 0 load, 0 run the reader, 1 load, 2 load, 1>0, 2>0
  directory S_B/GetShared -> S_B: queue
  home keeps: none -> GetShared for 2

3 nodes: 0 load, 0 run the reader, 1 load, 2 store, 1>0, 2>0
  directory S_B/GetModified -> S_B: queue
  home keeps: none -> GetModified for 2

3 nodes: 1 load, 2 store, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 2>0, 0 store, 0>1, 1>2, 2 run the writer, 2>0, 0>2, 2 load, 2>0, 0 run the writer, 2>0, 1>0
  directory S_B/PutStale -> S_B: queue
  home keeps: none -> PutClean for 1

3 nodes: 0 load, 0 run the reader, 1 load, 2 load, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 2>0, 1>0
  directory S_B/PutShared -> S_B: queue
  home keeps: none -> PutShared for 1

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0>1, 1>0
  directory S_B/Unblock -> S
  home: S_B -> S

2 nodes: 0 load, 0 run the reader, 1 load, 1>0, 0 store, 0>1, 1>0
  directory S_B/Unblock -> S
  directory S/Upgrade -> X_B: invalidateSharers, grant, setOwner
  - sends Invalidate to 1, bytes at 0
  cache SM/GrantMore -> SM_A
  copy: SM -> SM_A
  copy waits for: 0 -> 1, granted
  home: S_B -> X_B
  home has owner: none -> 0
  home has sharers: 0, 1 -> none
  home has invalidated: 0 -> 1
  home keeps: GetModified for 0 -> none
  home has changed owners once more

3 nodes: 1 load, 2 load, 1>0, 0 store, 0>1, 1 run the reader, 1 evict, 1>0, 0>1, 2>0, 1>0, 1>0, 0 run the writer, 0>2, 2>0
  directory S_B/Unblock -> S
  directory S/PutStale -> S: acknowledgePut
  - sends PutAcknowledged for 1 to 1
  home: S_B -> S
  home keeps: PutClean for 1 -> none

2 nodes: 1 load, 1>0, 0 store, 0>1, 1 run the reader, 1 evict, 1>0, 1>0
  directory X_B/PutStale -> X_B: queue
  home keeps: none -> PutClean for 1

3 nodes: 0 load, 1 load, 2 load, 1>0, 2>0
  directory S_DB/GetShared -> S_DB: queue
  home keeps: none -> GetShared for 2

3 nodes: 0 load, 1 load, 2 store, 1>0, 2>0
  directory S_DB/GetModified -> S_DB: queue
  home keeps: none -> GetModified for 2

3 nodes: 1 load, 2 store, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 2>0, 0 load, 0>1, 1>2, 2>0, 1>0
  directory S_DB/PutStale -> S_DB: queue
  home keeps: none -> PutClean for 1

2 nodes: 1 load, 1>0, 0 load, 0>1, 1 run the reader, 1 evict, 1>0, 1>0
  directory S_DB/PutShared -> S_DB: queue
  home keeps: none -> PutClean for 1

3 nodes: 1 load, 2 load, 1>0, 0 load, 0>1, 1 run the reader, 1>0, 0>1, 1>0, 2>0
  directory S_D/GetShared -> S_D: queue
  home keeps: none -> GetShared for 2

3 nodes: 1 load, 2 store, 1>0, 0 load, 0>1, 1 run the reader, 1>0, 0>1, 1>0, 2>0
  directory S_D/GetModified -> S_D: queue
  home keeps: none -> GetModified for 2

3 nodes: 1 load, 2 store, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 2>0, 0 load, 0>1, 1>2, 2 run the writer, 2>0, 0>2, 2>0, 1>0
  directory S_D/PutStale -> S_D: queue
  home keeps: none -> PutClean for 1

3 nodes: 1 load, 2 load, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 2>0, 0>1, 1>2, 2>0, 1>0
  directory S_D/PutShared -> S_D: queue
  home keeps: none -> PutClean for 1

2 nodes: 1 load, 1>0, 0 load, 0>1, 1 run the reader, 1>0, 0>1, 1>0, 1>0
  directory S_D/Downgraded -> S
  home: S_D -> S

3 nodes: 1 load, 2 store, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 2>0, 0>1, 1>2, 2 run the writer, 2 evict, 2>0, 2>0, 1>0
  directory X_P/PutStale -> X_P: queue
  home keeps: none -> PutClean for 1

2 nodes: 1 store, 1>0, 0>1, 1 run the writer, 1 evict, 1>0, 1>0, 0>1, 1>0
  directory X_P/WrittenBack -> U: clearOwner, acknowledgePut
  - sends PutAcknowledged for 1 to 1
  home: X_P -> U
  home has owner: 1 -> none

3 nodes: 1 load, 2 store, 1>0, 0>1, 1 run the reader, 1 evict, 1>0, 2>0, 0>1, 1>2, 2 run the writer, 2 evict, 2>0, 2>0, 0>2, 1>0, 2>0
  directory X_P/WrittenBack -> U: clearOwner, acknowledgePut
  - sends PutAcknowledged for 2 to 2
  directory U/PutStale -> U: acknowledgePut
  - sends PutAcknowledged for 1 to 1
  home: X_P -> U
  home has owner: 2 -> none
  home keeps: PutClean for 1 -> none
`
