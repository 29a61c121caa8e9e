import { describe, expect, it } from 'vitest';
import { createLoader } from '../../../../../../src/doors/console/pages/loading.ts';

/** A loader whose responses the test gives, in the order of the fetches. */
function loading() {
  const fetches: PromiseWithResolvers<string>[] = [];
  const loader = createLoader(
    () => {
      const fetched = Promise.withResolvers<string>();
      fetches.push(fetched);
      return fetched.promise;
    },
    () => {},
  );
  return { loader, fetches };
}
const settled = () => new Promise((done) => setTimeout(done, 0));

describe("a page's fetched data", () => {
  it('is fetched once more if it changed during the fetch, whose response may be older', async () => {
    const { loader, fetches } = loading();
    const loaded = loader.load();
    loader.set('newer, from an event');
    fetches[0]?.resolve('older');
    await settled();
    expect(fetches).toHaveLength(2);
    fetches[1]?.resolve('newest');
    await loaded;
    expect(loader.value).toBe('newest');
  });

  it('is not fetched again if it changes afterwards', async () => {
    const { loader, fetches } = loading();
    const loaded = loader.load();
    fetches[0]?.resolve('fetched');
    await loaded;
    loader.set('from an event');
    await settled();
    expect(fetches).toHaveLength(1);
    expect(loader.value).toBe('from an event');
  });
});
