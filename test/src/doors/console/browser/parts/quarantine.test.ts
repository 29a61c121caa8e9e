import { expect, it, vi } from 'vitest';
import type { Quarantined } from '../../../../../../src/doors/console/contract.ts';
import { openQuarantine } from '../../../../../../src/doors/console/pages/holds.ts';
import type { Surroundings } from '../../../../../../src/doors/console/pages/page.ts';
import { repeated, shownText } from '../../shown-text.ts';

const object = (id: string): Quarantined => ({
  id,
  at: '2026-11-24T05:01:41.630Z',
  bytes: 7,
  source: 'cart',
  callingAeTitle: 'CART',
  title: 'The object could not be read',
  detail: null,
});

/** Presses the buttons with these texts, one after the other. */
async function press(list: ReturnType<typeof openQuarantine>, ...texts: string[]): Promise<void> {
  for (const text of texts) {
    const pressed = buttonsIn(list.view()).find((one) => one.text.includes(text));
    pressed?.click();
    await new Promise((done) => setTimeout(done, 0));
  }
}

function buttonsIn(template: unknown): { text: string; click(): void }[] {
  if (Array.isArray(template)) return template.flatMap(buttonsIn);
  if (typeof template !== 'object' || template === null) return [];
  if (!('strings' in template)) return repeated(template).flatMap(buttonsIn);
  const { strings, values } = template as unknown as { strings: string[]; values: unknown[] };
  const own = strings.flatMap((text, at) =>
    text.trimEnd().endsWith('@click=')
      ? [{ text: shownText(values.slice(at + 1)), click: values[at] as () => void }]
      : [],
  );
  return [...own, ...values.flatMap(buttonsIn)];
}

it('lists an object that could not be registered under its new id, and says why', async () => {
  vi.stubGlobal('requestAnimationFrame', () => 0);
  let id = 'before';
  const api = {
    quarantine: async () => [object(id)],
    async registerQuarantined() {
      id = 'after';
      throw new Error('The header could not be read.');
    },
  };
  const around = { api, session: { may: ['run'] }, redraw() {}, say() {} };
  const list = openQuarantine(around as unknown as Surroundings);
  await list.load();
  expect(shownText(list.view())).toContain('quarantine/before.dcm');
  await press(list, 'Register again', 'Register again');
  expect(shownText(list.view())).toContain('quarantine/after.dcm');
  expect(shownText(list.view())).toContain('The header could not be read.');
  vi.unstubAllGlobals();
});
