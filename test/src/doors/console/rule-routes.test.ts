import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { routingSchema } from '../../../../config/routing.ts';
import { concise } from '../../../../src/doors/console/rule-routes.ts';

const DEFAULTS = new URL('../../../../config/default.yaml', import.meta.url);

it('shows rules as a person would write them, with the same meaning', () => {
  const own = {
    name: 'own',
    when: { modality: 'US', not: { any: [{ source: 'x' }, { plane: { exists: false } }] } },
    run: { endpoint: 'us/echo/interpret', options: { report: false } },
    deliverTo: ['pacs'],
  };
  const { routing } = parse(readFileSync(DEFAULTS, 'utf8'));
  const rules = routingSchema.parse({ ...routing, rules: [own, ...routing.rules] });
  const shown = parse(stringify(concise(rules)));
  expect(shown.rules[0]).toEqual(own);
  expect(routingSchema.parse(shown)).toEqual(rules);
});
