import type { Router } from '@koa/router';
import { parse, stringify, YAMLParseError } from 'yaml';
import { z } from 'zod';
import { type Routing, type RoutingRule, routingSchema } from '../../../config/routing.ts';
import { misnamedDestinations } from '../../../config/schema.ts';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import { readsFreeText } from '../../core/accounts/roles.ts';
import type { DryRun as StudyDryRun } from '../../core/studies/commands.ts';
import { INLINE_HEADER_BYTES } from '../../core/studies/instance-header.ts';
import { conditionWords } from '../../core/studies/rules/rule-words.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { InvalidInputError, jsonPointer, pointedErrors } from '../../platform/errors/problem.ts';
import { jsonBody, parseBody } from '../http/parse.ts';
import { auditedFirst, auditStudies } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type {
  ConsoleRole,
  DryRun,
  DryRunQuery,
  FileDryRun,
  FileOutcome,
  Rules,
  SavedRules,
  SaveRules,
} from './contract.ts';
import { needs } from './guard.ts';
import { shownVerdict } from './study-page.ts';
import { interpretationText, sopClassName } from './wording.ts';

const dryRunSchema: z.ZodType<DryRunQuery> = z.strictObject({
  yaml: z.string().max(200_000),
  last: z.number().int().min(1).max(500),
});

const fileSchema: z.ZodType<FileDryRun> = z.strictObject({
  yaml: z.string().max(200_000),
  source: z.string().max(64),
  start: z.base64().max(Math.ceil((INLINE_HEADER_BYTES * 4) / 3) + 4),
  bytes: z.number().int().positive(),
});

const saveSchema: z.ZodType<SaveRules> = z.strictObject({
  yaml: z.string().max(200_000),
  basis: z.string(),
});

const STALE =
  'Saving would undo the changes of others. Download your text, open the page again, and repeat your changes there.';

const yamlOf = (routing: Routing): string => stringify({ routing: concise(routing) });

/** Adds `/rules`, which shows the gateway's current rules, tries edited rules and saves them. */
export function addRuleRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { config, operations } = deps;

  router.get('/rules', needs('rules'), async (context) => {
    const routing = operations.rules.current();
    context.body = {
      match: routing.match,
      rules: routing.rules.map(inWords),
      yaml: yamlOf(routing),
      canSave: operations.rules.canSave(),
      sources: config.sources.map(({ name }) => name),
      fileStartBytes: INLINE_HEADER_BYTES,
      lastDay: await lastDay(deps),
    } satisfies Rules;
  });

  router.put('/rules', needs('rules'), jsonBody(config.http.maxBodyBytes), async (context) => {
    const { yaml, basis } = parseBody(saveSchema, context.state.body);
    if (basis !== yamlOf(operations.rules.current())) throw new SonogateError('stale_rules', STALE);
    const routing = readRouting(yaml);
    checkNames(routing, deps);
    const of = { detail: { rules: routing.rules.length } };
    const kept = await auditedFirst(context, 'rules.change', of, deps, (record) =>
      operations.rules.save(yaml, record).catch(refuseYaml),
    );
    context.body = { kept } satisfies SavedRules;
  });

  router.post(
    '/rules/dry-run',
    needs('rules'),
    jsonBody(config.http.maxBodyBytes),
    async (context) => {
      const { yaml, last } = parseBody(dryRunSchema, context.state.body);
      const edited = readRouting(yaml);
      checkNames(edited, deps);
      const before = await operations.rules.dryRun(null, last);
      const then = await operations.rules.dryRun(edited, last);
      const studies = await compared(before, then, context.state.session.role, deps);
      const studyIds = studies.map(({ key }) => key);
      await auditStudies(context, studyIds, 'rules', deps);
      context.body = {
        studies,
        changed: studies.filter(
          ({ actsNow, wouldAct }) => actsNow.join('\n') !== wouldAct.join('\n'),
        ).length,
      } satisfies DryRun;
    },
  );

  router.post(
    '/rules/dry-run-file',
    needs('rules'),
    jsonBody(config.http.maxBodyBytes),
    (context) => {
      const { yaml, source, start, bytes } = parseBody(fileSchema, context.state.body);
      const routing = readRouting(yaml);
      checkNames(routing, deps);
      const head = Buffer.from(start, 'base64');
      const file = { start: head, whole: head.length >= bytes };
      const found = operations.rules.judgeFile(routing, file, source);
      const { role } = context.state.session;
      context.body = {
        modality: found.modality,
        studyDescription: readsFreeText(role) ? found.studyDescription : '',
        sopClass: sopClassName(found.sopClassUid),
        wouldAct: found.acting,
        verdicts: found.verdicts.map((verdict) => shownVerdict(verdict, role)),
        open: found.open,
      } satisfies FileOutcome;
    },
  );
}

/** Returns, for each study, the rules that act on it now and the edited rules that would act. */
async function compared(
  before: readonly StudyDryRun[],
  then: readonly StudyDryRun[],
  role: ConsoleRole,
  deps: ConsoleDeps,
): Promise<DryRun['studies']> {
  const identities = await identitiesOf(
    then.map(({ study }) => study),
    deps,
  );
  return then.map(({ study, receivedAt, acting, verdicts }) => {
    const identity = identities.get(study);
    return {
      key: study,
      arrivedAt: receivedAt.toISOString(),
      subject: identity ? deps.showSubject(role, identity) : null,
      actsNow: before.find((run) => run.study === study)?.acting ?? [],
      wouldAct: acting,
      verdicts: verdicts.map((verdict) => shownVerdict(verdict, role)),
    };
  });
}

/**
 * Parses rules written as in a configuration file; the key `routing:` above them may be omitted.
 * @throws InvalidInputError with a pointer below `/yaml` for each mistake.
 */
function readRouting(yaml: string): Routing {
  let tree: unknown;
  try {
    // Without this limit, anchors could expand a short text to any size.
    tree = parse(yaml, { maxAliasCount: 0 });
  } catch (error) {
    const detail = error instanceof YAMLParseError ? error.message : String(error);
    throw new InvalidInputError([{ pointer: '/yaml', detail }]);
  }
  const routing =
    typeof tree === 'object' && tree !== null && 'routing' in tree ? tree.routing : tree;
  const parsed = routingSchema.safeParse(routing);
  if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error, '/yaml'));
  return parsed.data;
}

/**
 * Checks the names in the rules.
 * @throws InvalidInputError if a rule refers to something that this installation does not have.
 */
function checkNames(routing: Routing, { config, operations }: ConsoleDeps): void {
  const errors = misnamedDestinations(routing, config.destinations).map(({ path, message }) => ({
    pointer: `/yaml${jsonPointer(path)}`,
    detail: message,
  }));
  if (errors.length > 0) throw new InvalidInputError(errors);
  try {
    operations.rules.check(routing);
  } catch (error) {
    refuseYaml(error);
  }
}

/**
 * Converts an error in the rules to invalid input, which a person can correct in the text. Rethrows
 * any other error.
 */
function refuseYaml(error: unknown): never {
  if (!(error instanceof SonogateError) || error.code !== 'invalid_config') throw error;
  throw new InvalidInputError([{ pointer: '/yaml', detail: error.detail }]);
}

/** Returns the rules as a person would write them: without default values. */
export function concise({ match, rules }: Routing) {
  return {
    match,
    rules: rules.map((rule) => ({
      ...Object.fromEntries(Object.entries(rule).filter(([, value]) => !isUnset(value))),
      ...(rule.run && { run: conciseRun(rule.run) }),
      ...(!isUnset(rule.when) && { when: conciseCondition(rule.when) }),
    })),
  };
}

/** Whether a part of a rule has its default value: `false`, no entries or no properties. */
const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === false ||
  (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

function conciseRun({ endpoint, options, priority }: NonNullable<RoutingRule['run']>) {
  return {
    endpoint,
    ...(!isUnset(options) && { options }),
    ...(priority !== 'normal' && { priority }),
  };
}

/** Returns a condition in which every `{ equals: US }` is shortened to `US`, at any depth. */
function conciseCondition(condition: unknown): unknown {
  if (Array.isArray(condition)) return condition.map(conciseCondition);
  if (typeof condition !== 'object' || condition === null) return condition;
  const entries = Object.entries(condition);
  const [only] = entries;
  if (only && entries.length === 1 && only[0] === 'equals') return only[1];
  return Object.fromEntries(entries.map(([key, value]) => [key, conciseCondition(value)]));
}

function inWords(rule: RoutingRule) {
  const { name, when, run, translate, deliverTo, forwardTo, deidentifyTo, hold, ignore, tags } =
    rule;
  const does = [
    run ? `runs the ${interpretationText(run.endpoint)}` : '',
    translate ? "sends the machine's own values to the EHR" : '',
    forwardTo.length > 0 ? `forwards to ${forwardTo.join(', ')}` : '',
    deidentifyTo.length > 0 ? `forwards de-identified copies to ${deidentifyTo.join(', ')}` : '',
    hold ? 'holds the study for a person' : '',
    ignore ? 'ignores the study' : '',
  ].filter((part) => part !== '');
  return {
    name,
    does: does.join(', ') || 'only tags the study',
    conditions: conditionWords(when),
    deliverTo,
    tags,
  };
}

async function lastDay({ database }: ConsoleDeps): Promise<Rules['lastDay']> {
  const { rows } = await database.query<{ acting_rules: string[]; state: string; studies: number }>(
    `SELECT s.acting_rules, s.state, count(*)::int AS studies
     FROM worklist w JOIN studies s ON s.id = w.study_id
     WHERE w.arrived_at > now() - interval '1 day' GROUP BY s.acting_rules, s.state`,
  );
  const total = (of: typeof rows) => of.reduce((sum, { studies }) => sum + studies, 0);
  const acted = rows.filter(({ acting_rules: rules }) => rules.length > 0);
  const names = new Set(acted.flatMap(({ acting_rules: rules }) => rules));
  const matchedNone = rows.filter(({ state }) => state === 'unrouted');
  return {
    byRule: [...names].map((rule) => ({
      rule,
      studies: total(acted.filter(({ acting_rules: rules }) => rules.includes(rule))),
    })),
    matchedNone: total(matchedNone),
    notJudged: total(rows) - total(acted) - total(matchedNone),
  };
}

async function identitiesOf(
  studies: readonly string[],
  { database }: ConsoleDeps,
): Promise<Map<string, DicomIdentity>> {
  const { rows } = await database.query<{ id: string; identity: DicomIdentity }>(
    'SELECT id, identity FROM studies WHERE id = ANY ($1::uuid[])',
    [studies],
  );
  return new Map(rows.map(({ id, identity }) => [id, identity]));
}
