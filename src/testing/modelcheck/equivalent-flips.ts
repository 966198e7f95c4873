/**
 * Flips that change nothing that can be observed, by protocol and name, each with the reason. `npm run modelcheck -- --flip` fails for a flip that is not
 * noticed and not here, and for one that is here and noticed.
 */
export const equivalentFlips: Readonly<Record<string, Readonly<Record<string, string>>>> = {}
