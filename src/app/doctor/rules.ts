import type { Routing } from '../../../config/routing.ts';
import { ruleFaults } from '../../core/studies/rules/check-rules.ts';
import { ENDPOINTS } from '../endpoints.ts';
import { type Finding, fault, ok } from './finding.ts';

/** Checks that every rule can match and act on a study. */
export function checkRules(routing: Pick<Routing, 'rules'>): Finding[] {
  const faults = ruleFaults(routing, ENDPOINTS).map(({ rule, detail }) =>
    fault(`rule ${rule}`, detail),
  );
  return faults.length > 0
    ? faults
    : [ok('rules', 'their attributes exist, and their endpoints accept their options')];
}
