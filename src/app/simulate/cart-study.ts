import { setTimeout as delay } from 'node:timers/promises';
import type { NaturalDataset } from 'dcmjs';
import { COMMAND } from '../../../dimse/network/message.ts';
import type { ProposedContext } from '../../../dimse/network/pdu.ts';
import type { OutgoingObject } from '../../../dimse/network/service-ports.ts';
import { readCommitmentReport } from '../../../dimse/services/commitment-message.ts';
import {
  newUid,
  referenceItems,
  type SopReference,
} from '../../../dimse/services/referenced-objects.ts';
import { decodeDataSet, encodeDataSet } from '../../../pipelines/dicom/data-set.ts';
import {
  PERFORMED_PROCEDURE_STEP,
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from '../../../pipelines/dicom/sop-classes.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from '../../../pipelines/dicom/transfer-syntaxes.ts';
import type { DicomNode } from '../cli/dicom.ts';
import { CartAssociation } from './cart-association.ts';
import type { Cart } from './carts.ts';

/** The peer's responses while it receives a study. */
export interface StudyOutcome {
  /** C-STORE status of each object, in order; null if the peer did not respond. */
  stored: (number | null)[];
  /** Statuses of N-CREATE and N-SET; null if the cart sent no MPPS. */
  performedProcedure: [number, number] | null;
  /** Number of objects that the peer committed to; null if the cart does not request commitment. */
  committed: number | null;
}

/**
 * Sends a study as the cart does: MPPS N-CREATE, the objects, MPPS N-SET, the end of the
 * association, then storage commitment.
 */
export async function sendStudy(
  node: DicomNode,
  cart: Cart,
  {
    objects,
    studyInstanceUid,
    pauseMilliseconds = 0,
    onStored,
  }: {
    objects: readonly OutgoingObject[];
    studyInstanceUid: string;
    /**
     * Pause between two objects. A cart with one association for the whole study keeps it open
     * meanwhile.
     */
    pauseMilliseconds?: number;
    onStored?: (object: OutgoingObject, status: number) => void;
  },
): Promise<StudyOutcome> {
  const step = newUid();
  const stored: number[] = [];
  const begun = cart.performedProcedure
    ? await performedProcedure(node, cart, {
        commandField: COMMAND.nCreate,
        step,
        dataSet: stepBegun(studyInstanceUid, cart),
      })
    : null;
  let association: CartAssociation | null = null;
  for (const [index, object] of objects.entries()) {
    if (index > 0) await delay(pauseMilliseconds);
    association ??= await CartAssociation.open(node, cart, imageContexts(cart));
    const status = await association.store(object);
    stored.push(status);
    onStored?.(object, status);
    if (cart.association === 'study') continue;
    await association.end();
    association = null;
  }
  const ended =
    begun === null
      ? null
      : await performedProcedure(node, cart, {
          commandField: COMMAND.nSet,
          step,
          dataSet: stepEnded(objects),
        });
  await association?.end();
  return {
    stored,
    performedProcedure: begun === null || ended === null ? null : [begun, ended],
    committed: cart.commitment ? await commitment(node, cart, objects) : null,
  };
}

/**
 * Returns presentation contexts for the cart's images, with odd ids and in the cart's order (PS3.8
 * 9.3.2.2).
 */
export function imageContexts(cart: Cart): ProposedContext[] {
  const classes = [cart.classes.still, cart.classes.cine, ...cart.alsoProposes];
  const proposals = classes.flatMap((abstractSyntax) =>
    cart.contexts === 'per-class'
      ? [{ abstractSyntax, transferSyntaxes: [...cart.transferSyntaxes] }]
      : cart.transferSyntaxes.map((syntax) => ({ abstractSyntax, transferSyntaxes: [syntax] })),
  );
  return proposals.map((proposal, index) => ({ id: 2 * index + 1, ...proposal }));
}

const service = (abstractSyntax: string): ProposedContext[] => [
  {
    id: 1,
    abstractSyntax,
    transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN, EXPLICIT_VR_LITTLE_ENDIAN],
  },
];

/** Returns the attributes known when the examination begins (PS3.4 table F.7.2-1). */
export function stepBegun(
  studyInstanceUid: string,
  { callingAeTitle }: { callingAeTitle: string },
): NaturalDataset {
  return {
    ScheduledStepAttributesSequence: [{ StudyInstanceUID: studyInstanceUid }],
    PerformedProcedureStepID: '1',
    PerformedStationAETitle: callingAeTitle,
    PerformedProcedureStepStartDate: '20260115',
    PerformedProcedureStepStartTime: '101500',
    PerformedProcedureStepStatus: 'IN PROGRESS',
    Modality: 'US',
  };
}

/** Returns the attributes known when the examination ends, with its objects (PS3.4 table F.7.2-1). */
export function stepEnded(objects: readonly SopReference[]): NaturalDataset {
  return {
    PerformedProcedureStepStatus: 'COMPLETED',
    PerformedProcedureStepEndDate: '20260115',
    PerformedProcedureStepEndTime: '104500',
    PerformedSeriesSequence: [
      { ProtocolName: 'Ultrasound', ReferencedImageSequence: referenceItems(objects) },
    ],
  };
}

/** Sends N-CREATE or N-SET over a separate association, as most carts do. */
async function performedProcedure(
  node: DicomNode,
  cart: Cart,
  { commandField, step, dataSet }: { commandField: number; step: string; dataSet: NaturalDataset },
): Promise<number> {
  const association = await CartAssociation.open(node, cart, service(PERFORMED_PROCEDURE_STEP));
  const create = commandField === COMMAND.nCreate;
  const status = await association.request(
    create
      ? {
          commandField,
          affectedSopClassUid: PERFORMED_PROCEDURE_STEP,
          affectedSopInstanceUid: step,
        }
      : {
          commandField,
          requestedSopClassUid: PERFORMED_PROCEDURE_STEP,
          requestedSopInstanceUid: step,
        },
    { sopClassUid: PERFORMED_PROCEDURE_STEP, transferSyntax: IMPLICIT_VR_LITTLE_ENDIAN },
    encodeDataSet(dataSet, IMPLICIT_VR_LITTLE_ENDIAN),
  );
  await association.end('release');
  return status;
}

/** Requests storage commitment and waits for the report on the same association (PS3.4 J.3.3). */
async function commitment(
  node: DicomNode,
  cart: Cart,
  objects: readonly OutgoingObject[],
): Promise<number> {
  const association = await CartAssociation.open(node, cart, service(STORAGE_COMMITMENT));
  const dataSet = { TransactionUID: newUid(), ReferencedSOPSequence: referenceItems(objects) };
  const status = await association.request(
    {
      commandField: COMMAND.nAction,
      requestedSopClassUid: STORAGE_COMMITMENT,
      requestedSopInstanceUid: STORAGE_COMMITMENT_INSTANCE,
      actionTypeId: 1,
    },
    { sopClassUid: STORAGE_COMMITMENT, transferSyntax: IMPLICIT_VR_LITTLE_ENDIAN },
    encodeDataSet(dataSet, IMPLICIT_VR_LITTLE_ENDIAN),
  );
  if (status !== 0) throw new Error(`storage commitment refused: status ${status.toString(16)}H`);
  const report = decodeDataSet(await association.eventReport(), IMPLICIT_VR_LITTLE_ENDIAN);
  await association.end('release');
  return readCommitmentReport(report)?.committed.length ?? 0;
}
