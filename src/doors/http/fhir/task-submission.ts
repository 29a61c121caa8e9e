import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { mayRetrieveStudies } from '../../../core/accounts/keys.ts';
import { resolveEndpoint } from '../../../core/requests/endpoint.ts';
import type { RequestFile, RequestRow } from '../../../core/requests/request.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { InvalidInputError, pointedErrors } from '../../../platform/errors/problem.ts';
import { audited, submissionAudit } from '../audited.ts';
import { requireScope } from '../authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import { jsonBody } from '../parse.ts';
import { objectsToInterpret } from './imaging-study.ts';
import { answer, FHIR } from './outcome.ts';
import type { StudySource } from './study-source.ts';
import { ENDPOINT_SYSTEM, taskId, taskOf } from './task.ts';

/**
 * The members of a Task that are used. Other members, such as the patient, are accepted but neither
 * used nor stored. Members that could change the meaning of others are refused.
 */
const body = z.object({
  resourceType: z.literal('Task'),
  modifierExtension: z.undefined('a modifier is not supported').optional(),
  implicitRules: z.undefined('implicit rules are not supported').optional(),
  status: z.literal('requested', 'must be "requested" for a new task'),
  intent: z.literal('order', 'an order'),
  priority: z.enum(['routine', 'urgent', 'asap', 'stat']).default('routine'),
  code: z.looseObject({
    coding: z.array(
      z.looseObject({
        system: z.string().optional(),
        version: z.string().optional(),
        code: z.string().optional(),
      }),
    ),
  }),
  focus: z.looseObject({ reference: z.string().max(2000) }),
  contained: z.array(z.unknown()).max(20).default([]),
});

const CONDITION = /^identifier=\S{1,400}$/;

/**
 * Adds `POST /fhir/Task`: a request to interpret an ImagingStudy. Its objects are fetched from a
 * configured archive when the request starts.
 */
export function addTaskSubmission(
  router: Router<HttpState>,
  deps: HttpDeps,
  source: StudySource,
): void {
  const { core, config, limits, now = () => new Date() } = deps;
  router.post(
    `${FHIR}/Task`,
    requireScope(deps, 'run'),
    audited(deps, 'request.submit'),
    jsonBody(config.maxBodyBytes, ['application/fhir+json', 'application/json']),
    async (context) => {
      const { principal } = context.state;
      if (!principal.test && !mayRetrieveStudies(principal)) {
        const detail = 'A study is fetched only for a live key with the scope "retrieve".';
        throw new SonogateError('forbidden', detail);
      }
      const started = now();
      const row = await submitted(context);
      const address = baseUrl(context, config);
      const location = `${address}${FHIR}/Task/${taskId(row.id)}`;
      // R4 3.1.0.8.1: a conditional create that matches an existing resource does not create
      // another.
      context.status = row.created_at < started ? 200 : 201;
      context.set({ Location: location, 'Content-Location': location });
      answer(context, taskOf(row, address));
    },
  );

  async function submitted(context: Context & { state: HttpState }): Promise<RequestRow> {
    const { principal, traceparent } = context.state;
    const { accountId, keyId, test } = principal;
    const parsed = body.safeParse(context.state.body);
    if (!parsed.success) throw new InvalidInputError(pointedErrors(parsed.error));
    const { code, focus, contained, priority } = parsed.data;
    const coding = code.coding.find(({ system }) => system === ENDPOINT_SYSTEM);
    if (!coding?.code) {
      const detail = `a coding of the system ${ENDPOINT_SYSTEM}, such as us/obstetric/interpret`;
      throw new InvalidInputError([{ pointer: '/code/coding', detail }]);
    }
    const endpoint = resolveEndpoint(core.endpoints(), coding.code, coding.version ?? null);
    await limits.requireRoom(keyId);
    const objects = await objectsToInterpret(
      source,
      { focus: focus.reference, contained },
      { looksUp: !test },
    );
    const files = objects.map(
      (archive, index): RequestFile => ({
        name: `object-${String(index + 1).padStart(4, '0')}.dcm`,
        archive,
      }),
    );
    const row = await core.submit({
      endpoint: endpoint.id,
      version: endpoint.version,
      input: { files: files.map(({ name }) => name) },
      files,
      priorFiles: [],
      priority: priority === 'routine' ? 'normal' : 'high',
      metadata: {},
      webhook: null,
      source: { kind: 'api', ...(traceparent && { traceparent }) },
      uniqueKey: uniqueKeyOf(context),
      accountId,
      keyId,
      test,
      deliverTo: [],
      audit: submissionAudit(context.state, 201, now()),
    });
    context.state.audited = true;
    return row;
  }
}

/** Returns the key that identifies repetitions of a conditional create (R4 3.1.0.8.1). */
function uniqueKeyOf(context: Context & { state: HttpState }): string | null {
  const condition = context.get('If-None-Exist');
  if (condition === '') return null;
  if (!CONDITION.test(condition)) {
    throw new SonogateError('invalid_query', 'If-None-Exist accepts identifier=system|value.');
  }
  const { accountId, test } = context.state.principal;
  return `fhir:${accountId}:${test}:${condition}`;
}
