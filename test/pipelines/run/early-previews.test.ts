import { describe, expect, it } from 'vitest';
import { createEarlyPreviews } from '../../../pipelines/run/early-previews.ts';

describe('previews of a study that is still being read', () => {
  it('are drawn at once, and once more for everything that became known meanwhile', async () => {
    const drawings: PromiseWithResolvers<void>[] = [];
    const previews = createEarlyPreviews(() => {
      const drawing = Promise.withResolvers<void>();
      drawings.push(drawing);
      return drawing.promise;
    });
    previews.draw();
    await Promise.resolve();
    expect(drawings).toHaveLength(1);
    previews.draw();
    previews.draw();
    drawings[0]?.resolve();
    await expect.poll(() => drawings.length).toBe(2);
    drawings[1]?.resolve();
    await previews.drawn();
    expect(drawings).toHaveLength(2);
  });

  it('pass a drawing error on to whoever waits for them', async () => {
    const previews = createEarlyPreviews(() => Promise.reject(new Error('no room')));
    previews.draw();
    await expect(previews.drawn()).rejects.toThrow('no room');
  });
});
