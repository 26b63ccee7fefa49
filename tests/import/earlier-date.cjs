// Preloaded into Azurite when it writes the folder of the tests: its data is older than any clock
// that the tests run under, because a moment in the future is not imported as it is.
const RealDate = Date;
const offset = RealDate.now() - RealDate.UTC(2025, 2, 1, 12);
globalThis.Date = class extends RealDate {
  constructor(...parts) {
    super(...(parts.length === 0 ? [RealDate.now() - offset] : parts));
  }
  static now() {
    return RealDate.now() - offset;
  }
};
