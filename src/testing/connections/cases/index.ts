import type { ConnectionCase } from '../context.ts'
import { connectingCases } from './connecting.ts'
import { endingCases } from './ending.ts'
import { refusingCases } from './refusing.ts'

/** Every rule of the connection manager that both carriers obey. */
export const connectionCases: readonly ConnectionCase[] = [...connectingCases, ...refusingCases, ...endingCases]
