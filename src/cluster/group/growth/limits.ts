/** How many ranks a group that grows gives. None is given twice. */
export const RANKS_MAX = 250
/** Members at a time: each has a connection to each other. */
export const MEMBERS_AT_ONCE_MAX = 32
/** Processes that may be about to join in one epoch. */
export const CANDIDATES_MAX = 8
