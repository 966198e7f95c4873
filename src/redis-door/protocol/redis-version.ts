/** Version of Redis whose commands these are. Clients decide by it what they may use. */
export const REDIS_VERSION = '7.0.15'
