/** What the shortest calls are made of; both ends import it. */
import { borrowedBytes, defineService, unary } from '../../dist/src/rpc/index.js'

export const shortCalls = defineService({
  name: 'short',
  methods: { echo: unary({ codec: borrowedBytes }), sum: unary({}), rest: unary({}) },
})

/** Which of what there are several of is profiled. */
export const ways = ['off', 'off, again', 'profiled']
export const isProfiled = (way) => way === 'profiled'
/** Which is made first, and looked at first, makes a difference of its own: another one in each set. */
export const waysFrom = (first) => ways.map((_, index) => ways[(index + first) % ways.length])
