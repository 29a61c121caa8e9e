import dcmjs from 'dcmjs';
import type { Routing, RoutingRule } from '../../../../config/routing.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { type Endpoint, resolveEndpoint } from '../../requests/endpoint.ts';
import { attributePaths } from './route.ts';

const { nameMap } = dcmjs.data.DicomMetaDictionary;

/** A fault that keeps a rule from ever matching or acting. */
interface RuleFault {
  rule: string;
  /** Position of the rule in the list. */
  index: number;
  detail: string;
}

/**
 * Checks what the schema of the settings cannot know: that every attribute in a condition exists in
 * PS3.6, and that every `run` names an endpoint with options that it accepts.
 */
export function ruleFaults(
  { rules }: Pick<Routing, 'rules'>,
  endpoints: readonly Endpoint[],
): RuleFault[] {
  return rules.flatMap((rule, index) =>
    [...unknownAttributes(rule), ...runFaults(rule, endpoints)].map((detail) => ({
      rule: rule.name,
      index,
      detail,
    })),
  );
}

/** @throws SonogateError `invalid_config` that lists every fault. */
export function requireUsableRules(routing: Routing, endpoints: readonly Endpoint[]): void {
  const faults = ruleFaults(routing, endpoints);
  if (faults.length === 0) return;
  const lines = faults.map(({ rule, detail }) => `rule "${rule}": ${detail}`);
  throw new SonogateError('invalid_config', lines.join('; '));
}

function unknownAttributes({ when }: RoutingRule): string[] {
  const steps = attributePaths(when).flatMap((path) => path.split('.'));
  const unknown = steps.filter((step) => !step.startsWith('(') && nameMap[step] === undefined);
  if (unknown.length === 0) return [];
  return [`attributes that do not exist in DICOM: ${[...new Set(unknown)].join(', ')}`];
}

function runFaults({ run }: RoutingRule, endpoints: readonly Endpoint[]): string[] {
  if (!run) return [];
  try {
    const offered = endpoints.filter(({ internal }) => !internal);
    const { input } = resolveEndpoint(offered, run.endpoint, null);
    const { error } = input.safeParse({ files: ['scan.dcm'], options: run.options });
    return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
  } catch (error) {
    if (!(error instanceof SonogateError)) throw error;
    return [error.detail];
  }
}
