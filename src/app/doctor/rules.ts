import type { Routing } from '../../../config/routing.ts';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import { obstetricEndpoint } from '../../../pipelines/obstetric/endpoint.ts';
import { resolveEndpoint } from '../../core/requests/endpoint.ts';
import { type Finding, fault, ok } from './finding.ts';

const ENDPOINTS = [obstetricEndpoint, echoEndpoint];

/**
 * Checks that each rule that runs an endpoint specifies an existing one with options that it
 * accepts. Otherwise a study matching the rule could not be submitted.
 */
export function checkRules({ rules }: Pick<Routing, 'rules'>): Finding[] {
  const faults = rules.flatMap(({ name, run }) => {
    const detail = run && whyNot(run);
    return detail ? [fault(`rule ${name}`, detail)] : [];
  });
  return faults.length > 0 ? faults : [ok('rules', 'all options are accepted by their endpoints')];
}

function whyNot(run: NonNullable<Routing['rules'][number]['run']>): string | null {
  try {
    const { input } = resolveEndpoint(ENDPOINTS, run.endpoint, null);
    const { error } = input.safeParse({ files: ['scan.dcm'], options: run.options });
    const issues = error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
    return issues?.join('; ') ?? null;
  } catch (error) {
    return (error as Error).message;
  }
}
