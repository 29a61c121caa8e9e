import { describe, expect, it } from 'vitest';
import { ROLES } from '../../../../../../src/core/accounts/roles.ts';
import {
  mayOpen,
  openForOtherRoles,
  type Surroundings,
} from '../../../../../../src/doors/console/pages/page.ts';
import type { RouteName } from '../../../../../../src/doors/console/pages/router.ts';
import { shownText } from '../../shown-text.ts';

const PAGES = ['worklist', 'study', 'deliveries', 'holds', 'rules', 'peers', 'account'] as const;

describe('the pages of a role', () => {
  it.each([
    ['viewer', []],
    ['clinician', []],
    ['operator', ['rules', 'peers']],
    ['administrator', ['rules', 'peers', 'account']],
  ] as const)('for a %s are those that everyone has, and %s', (role, more) => {
    const opened = PAGES.filter((name: RouteName) => mayOpen({ may: [...ROLES[role].may] }, name));
    expect(opened).toEqual(['worklist', 'study', 'deliveries', 'holds', ...more]);
  });

  it('are replaced by one sentence for the other roles, without a button that would be refused', () => {
    const around = { session: { role: 'viewer' } } as unknown as Surroundings;
    const place = { name: 'account', id: '', query: new URLSearchParams() } as const;
    const text = shownText(openForOtherRoles(place, around).view());
    expect(text).toContain('You are signed in as viewer, and this page is for other roles.');
    expect(text).not.toContain('button');
  });
});
