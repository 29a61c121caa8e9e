import type { Encounter, Identifier, Patient, Reference, ServiceRequest } from '@medplum/fhirtypes';
import type { FhirDestination } from '../../config/schema.ts';
import type { Candidate } from '../../src/core/outbox/held.ts';
import { hasAnswer } from '../client/client.ts';
import { FhirFailure, failureOf } from '../client/outcome.ts';
import type { FhirServer } from '../client/server.ts';
import { accessionNumber, searchToken } from '../resources/identifiers.ts';
import { patientIdIn } from './patient.ts';

/** Maximum number of orders with one accession number that are shown to a person. */
const MOST_ORDERS = '10';

/** Statuses of orders that must not be carried out. No report may be based on such an order. */
export const VOID_ORDER: ReadonlySet<ServiceRequest['status']> = new Set([
  'revoked',
  'entered-in-error',
  'draft',
]);

/** Statuses that a receiver without orders returns for a search for orders. */
const NO_ORDERS = [400, 404, 405, 501];

interface Order {
  order?: Reference<ServiceRequest>;
  encounter?: Reference<Encounter>;
}

interface OrderLookup {
  /** Accession Number (0008,0050). */
  accession: string;
  /** The patient at the receiver; null if the bundle creates the patient. */
  patient: Reference<Patient> | null;
  rule: FhirDestination['order'];
  /** A person's decision: an order, or null for no order; undefined if nobody has decided. */
  chosen?: string | null;
}

/**
 * Finds the patient's order by accession number. If orders are `optional`, finding none or several
 * is not an error: the report then has only the accession number (a logical reference) and no
 * encounter. If they are `required`, a person chooses.
 * @throws FhirFailure `ehr_order_ambiguous`, with the orders that have the number.
 */
export async function findOrder(
  server: Pick<FhirServer, 'search' | 'read'>,
  { accession, patient, rule, chosen }: OrderLookup,
  signal: AbortSignal,
): Promise<Order> {
  const identifier = accession.trim() ? accessionNumber(accession) : undefined;
  const named: Order = identifier ? { order: { type: 'ServiceRequest', identifier } } : {};
  if (chosen === null) return named;
  if (chosen !== undefined) {
    const order = await server.read('ServiceRequest', chosen.split('/').at(-1) ?? '', signal);
    if (order && isOf(order, patient)) return foundOrder(order, identifier);
    throw ambiguous(`The chosen ${chosen} does not exist, or belongs to another patient`);
  }
  const hits = identifier && patient ? await ordersWith(server, identifier, rule, signal) : [];
  const own = hits.filter((order) => isOf(order, patient));
  const [found] = own;
  if (found && own.length === 1) return foundOrder(found, identifier);
  if (rule === 'optional') return named;
  throw ambiguous(
    why(own, hits),
    hits.map((order) => candidate(order, patient)),
  );
}

/** Returns the valid orders with the accession number, regardless of their patient. */
async function ordersWith(
  server: Pick<FhirServer, 'search'>,
  identifier: Identifier,
  rule: OrderLookup['rule'],
  signal: AbortSignal,
): Promise<ServiceRequest[]> {
  try {
    const query = { identifier: searchToken(identifier), _count: MOST_ORDERS };
    const answer = await server.search('ServiceRequest', query, signal);
    return answer
      .filter(({ status }) => !VOID_ORDER.has(status))
      .filter((order) => order.identifier?.some(({ value }) => value?.trim() === identifier.value));
  } catch (error) {
    // A receiver without orders can still accept the report.
    const keepsNone = error instanceof FhirFailure && hasAnswer(error.reason, NO_ORDERS);
    if (rule === 'optional' && keepsNone) return [];
    throw error;
  }
}

function isOf({ subject }: ServiceRequest, patient: Reference<Patient> | null): boolean {
  const id = patientIdIn(patient ?? undefined);
  return id !== null && patientIdIn(subject) === id;
}

function foundOrder(order: ServiceRequest, identifier: Identifier | undefined): Order {
  const encounter = order.encounter?.reference;
  return {
    order: { reference: `ServiceRequest/${order.id}`, type: 'ServiceRequest', identifier },
    encounter: encounter ? { reference: encounter } : undefined,
  };
}

function candidate(order: ServiceRequest, patient: Reference<Patient> | null): Candidate {
  const own = isOf(order, patient);
  return {
    reference: `ServiceRequest/${order.id}`,
    agrees: ['accession number', ...(own ? ['patient'] : [])],
    differs: own ? [] : ['patient'],
  };
}

function why(own: readonly ServiceRequest[], all: readonly ServiceRequest[]): string {
  if (own.length > 1) return `${own.length} orders of the patient have the accession number`;
  if (all.length > 0) return 'The order with this accession number belongs to another patient';
  return 'The receiver has no valid order with this accession number';
}

function ambiguous(detail: string, candidates: readonly Candidate[] = []): FhirFailure {
  return new FhirFailure(failureOf('ehr_order_ambiguous', detail), candidates);
}
