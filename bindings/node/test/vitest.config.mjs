// vitest runs Keyv's suite, which is written for it; the rest is `node --test`.
export default { test: { include: ['*.vitest.mjs'] } }
