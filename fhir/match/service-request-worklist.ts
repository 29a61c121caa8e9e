import type { Observation, Patient, ServiceRequest } from '@medplum/fhirtypes';
import type { FhirWorklistSettings } from '../../config/peers.ts';
import { LONGEST_INDICATION } from '../../pipelines/contract/job.ts';
import type { FoundOrder, OrderKeys, Worklist } from '../../src/core/studies/order.ts';
import {
  KILOGRAMS,
  lastMenstrualDateFrom,
  METRES,
  ORDER_LOINC,
  quantityOf,
} from '../../src/core/studies/order-observations.ts';
import type { PatientIdentity } from '../../src/core/studies/patient.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { connectFhir, hasAnswer } from '../client/client.ts';
import { FhirFailure } from '../client/outcome.ts';
import type { FhirServer } from '../client/server.ts';
import { accessionNumber, searchToken } from '../resources/identifiers.ts';
import { NO_ISSUER } from './patient.ts';

/** Maximum number of orders that are read for one accession number. */
const MAX_ORDERS = 10;

/** Statuses with which a server answers that it does not offer a search, or not to us. */
const NO_SEARCH = [400, 403, 404, 405, 501];

/** Value of (0010,0040) for each `Patient.gender`. */
const SEX: Readonly<Record<string, string>> = { female: 'F', male: 'M', other: 'O' };

/** Statuses of orders that must not be carried out. */
const VOID: ReadonlySet<string> = new Set(['revoked', 'entered-in-error', 'draft']);

/**
 * Creates the worklist of a FHIR server that keeps orders as ServiceRequests. It is searched only
 * by accession number, because a ServiceRequest has no Study Instance UID.
 */
export function serviceRequestWorklist(settings: FhirWorklistSettings): Worklist {
  const server = connectFhir(settings);
  return {
    name: settings.name,
    async orders(keys, signal) {
      try {
        return await ordersIn(server, keys, settings, signal);
      } catch (error) {
        if (!(error instanceof FhirFailure)) throw error;
        throw new SonogateError(error.reason.code, error.reason.detail, { cause: error });
      }
    },
  };
}

async function ordersIn(
  server: FhirServer,
  keys: OrderKeys,
  { patientIdentifierSystems: systems }: FhirWorklistSettings,
  signal: AbortSignal,
): Promise<FoundOrder[]> {
  if (!('accessionNumber' in keys)) return [];
  const query = {
    identifier: searchToken(accessionNumber(keys.accessionNumber)),
    _count: String(MAX_ORDERS),
  };
  const answer = await server.search('ServiceRequest', query, signal);
  const orders = answer
    .filter(({ status }) => !VOID.has(status))
    // A server that ignores an unknown parameter may return any order.
    .filter(({ identifier }) =>
      identifier?.some(({ value }) => value?.trim() === keys.accessionNumber),
    )
    .slice(0, MAX_ORDERS);
  return await Promise.all(
    orders.map(async (order) => {
      const reference = /(?:^|\/)Patient\/([A-Za-z0-9.-]{1,64})$/.exec(
        order.subject.reference ?? '',
      );
      const id = reference?.[1];
      const patient = id ? await server.read('Patient', id, signal) : null;
      const observations = id ? await observationsOf(server, id, signal) : [];
      return foundOrder(order, keys.accessionNumber, { patient, observations, systems });
    }),
  );
}

/**
 * Returns the Observations, newest first. If the server does not offer this search, orders are used
 * without them.
 */
async function observationsOf(
  server: FhirServer,
  patient: string,
  signal: AbortSignal,
): Promise<Observation[]> {
  const code = Object.values(ORDER_LOINC)
    .map((one) => `http://loinc.org|${one}`)
    .join(',');
  const query = { subject: `Patient/${patient}`, code, _sort: '-date', _count: '20' };
  try {
    return await server.search('Observation', query, signal);
  } catch (error) {
    if (error instanceof FhirFailure && hasAnswer(error.reason, NO_SEARCH)) return [];
    throw error;
  }
}

/** Returns the order in the form of a worklist. */
export function foundOrder(
  order: ServiceRequest,
  accession: string,
  {
    patient,
    observations,
    systems,
  }: {
    patient: Patient | null;
    observations: readonly Observation[];
    systems: Readonly<Record<string, string>>;
  },
): FoundOrder {
  const words = ({ text, coding }: { text?: string; coding?: { display?: string }[] }) =>
    text ?? coding?.find(({ display }) => display)?.display ?? '';
  const placer = order.identifier?.find(({ type }) =>
    type?.coding?.some(({ code }) => code === 'PLAC'),
  );
  const { sex, ...identity } = identityOf(patient, systems);
  return {
    patient: { ...identity, sex },
    studyInstanceUid: '',
    accessionNumber: accession,
    placerOrderNumber: placer?.value?.trim() ?? '',
    requestedProcedureId: '',
    requestedProcedure: order.code ? words(order.code) : '',
    indication: (order.reasonCode ?? [])
      .map(words)
      .filter(Boolean)
      .join(', ')
      .slice(0, LONGEST_INDICATION),
    // A display name has no parts, so as a PN all of it is the family name.
    referringPhysicianName: order.requester?.display?.trim().replaceAll(/[\^=\\]/g, ' ') ?? '',
    sex,
    lastMenstrualDate: lastMenstrualDate(observations),
    pregnancyStatus: null,
    patientSizeMetres: quantityIn(observations, ORDER_LOINC.height, METRES),
    patientWeightKilograms: quantityIn(observations, ORDER_LOINC.weight, KILOGRAMS),
  };
}

/**
 * Returns the patient, by the first identifier of a system that represents an issuer of patient
 * IDs.
 */
function identityOf(
  patient: Patient | null,
  systems: Readonly<Record<string, string>>,
): PatientIdentity {
  const [known] = Object.entries(systems).flatMap(([issuer, system]) => {
    const found = patient?.identifier?.find((one) => one.system === system && one.value);
    return found?.value ? [{ issuer, value: found.value.trim() }] : [];
  });
  return {
    patientId: known?.value ?? '',
    issuerOfPatientId: !known || known.issuer === NO_ISSUER ? '' : known.issuer,
    birthDate: patient?.birthDate?.replaceAll('-', '') ?? '',
    sex: SEX[patient?.gender ?? ''] ?? '',
  };
}

const withCode = (observations: readonly Observation[], loinc: string): Observation[] =>
  observations.filter(
    ({ code, status }) =>
      status !== 'entered-in-error' &&
      status !== 'cancelled' &&
      code.coding?.some((one) => one.system === 'http://loinc.org' && one.code === loinc),
  );

/** Returns the newest last menstrual date, otherwise the one computed from the newest due date. */
function lastMenstrualDate(observations: readonly Observation[]): string {
  const dateOf = (loinc: string) => {
    const date = withCode(observations, loinc)[0]?.valueDateTime?.slice(0, 10) ?? '';
    return /^\d{4}-\d{2}-\d{2}$/.test(date) ? date.replaceAll('-', '') : '';
  };
  const { lastMenstrualDate: stated, dueDate: due } = ORDER_LOINC;
  return lastMenstrualDateFrom({ stated: dateOf(stated), due: dateOf(due) });
}

/** Returns the quantity of the newest Observation with the code; null if its unit is unknown. */
function quantityIn(
  observations: readonly Observation[],
  loinc: string,
  units: Readonly<Record<string, number>>,
): number | null {
  const quantity = withCode(observations, loinc)[0]?.valueQuantity;
  return quantityOf(
    { value: quantity?.value, unit: quantity?.code ?? quantity?.unit ?? '' },
    units,
  );
}
