import fc from 'fast-check';
import { COMMAND, encodeCommandSet, RESPONSE_BIT } from '../../dimse/network/message.ts';
import {
  DICOM_APPLICATION_CONTEXT,
  encodeAbort,
  encodeAssociateRequest,
  encodeData,
  encodeReleaseRequest,
} from '../../dimse/network/pdu.ts';
import {
  INSTANCE_AVAILABILITY,
  PERFORMED_PROCEDURE_STEP,
  STORAGE_COMMITMENT,
  VERIFICATION,
} from '../../pipelines/dicom/sop-classes.ts';
import {
  COMPRESSED_TRANSFER_SYNTAXES,
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from '../../pipelines/dicom/transfer-syntaxes.ts';
import { dataSet } from '../dimse/dicom-file.ts';
import { ULTRASOUND_IMAGE } from '../dimse/network/raw-peer.ts';
import { mutated } from './mutate.ts';

/** One action on a connection: write bytes, pause, or leave in some way. */
export type Step =
  | { do: 'write'; bytes: Buffer }
  | { do: 'pause'; milliseconds: number }
  | { do: 'finish' }
  | { do: 'reset' };

export interface Session {
  steps: Step[];
  /** Number of bytes per write to the socket; the network may split them further. */
  pieceBytes: number;
}

const SOP_CLASSES = [
  VERIFICATION,
  ULTRASOUND_IMAGE,
  '1.2.840.10008.5.1.4.1.1.3.1',
  PERFORMED_PROCEDURE_STEP,
  INSTANCE_AVAILABILITY,
  STORAGE_COMMITMENT,
];
const SYNTAXES = [
  IMPLICIT_VR_LITTLE_ENDIAN,
  EXPLICIT_VR_LITTLE_ENDIAN,
  ...COMPRESSED_TRANSFER_SYNTAXES.slice(0, 3),
];
const OPERATIONS = Object.values(COMMAND).flatMap((field) => [field, field | RESPONSE_BIT]);

const seed = fc.nat(2 ** 31);
const byte = fc.nat(255);
const text = (maxLength: number) =>
  fc.oneof(fc.string({ maxLength }), fc.string({ unit: 'binary', maxLength }));
const uid = fc.oneof(
  { weight: 6, arbitrary: fc.nat(40).map((n) => `1.2.840.9.${n}`) },
  { weight: 1, arbitrary: text(80) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('', '../../etc/passwd', '1.2.840.9.1/..', '.'.repeat(64)),
  },
);
const us = fc.oneof(fc.nat(8), fc.nat(65_535));

/** Generates `bytes`, damaged by mutations once in `oneIn` cases. */
const perhapsDamaged = (bytes: fc.Arbitrary<Buffer>, oneIn: number) =>
  fc
    .tuple(bytes, fc.nat(oneIn - 1), seed)
    .map(([whole, damage, from]) => (damage === 0 ? mutated(whole, whole, from) : whole));

const associate = fc
  .record({
    contexts: fc.array(
      fc.record({
        id: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(1, 3, 5, 7) }, byte),
        abstractSyntax: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...SOP_CLASSES) }, uid),
        transferSyntaxes: fc.array(
          fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...SYNTAXES) }, uid),
          { maxLength: 4 },
        ),
      }),
      { maxLength: 12 },
    ),
    callingAeTitle: fc.oneof({ weight: 5, arbitrary: fc.constant('CART') }, text(16)),
    calledAeTitle: fc.oneof({ weight: 9, arbitrary: fc.constant('SONOGATE') }, text(16)),
    applicationContext: fc.oneof(
      { weight: 9, arbitrary: fc.constant(DICOM_APPLICATION_CONTEXT) },
      uid,
    ),
    maxPduBytes: fc.oneof(fc.constantFrom(0, 1, 16_384, 2 ** 32 - 1), fc.nat(2 ** 31)),
    implementationClassUid: uid,
    implementationVersion: text(16),
  })
  .map((request) => encodeAssociateRequest(request));

/** The association request that most peers send, so that the steps after it reach the services. */
const usualAssociate = fc.constant(
  encodeAssociateRequest({
    calledAeTitle: 'SONOGATE',
    callingAeTitle: 'CART',
    applicationContext: DICOM_APPLICATION_CONTEXT,
    maxPduBytes: 16_384,
    implementationClassUid: '1.2.3',
    implementationVersion: 'FUZZ',
    contexts: SOP_CLASSES.map((abstractSyntax, n) => ({
      id: 2 * n + 1,
      abstractSyntax,
      transferSyntaxes: [n % 2 === 0 ? IMPLICIT_VR_LITTLE_ENDIAN : EXPLICIT_VR_LITTLE_ENDIAN],
    })),
  }),
);

const contextId = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(1, 3, 5, 7, 9, 11) }, byte);

const object = fc.tuple(uid, fc.nat(3), fc.nat(3000)).map(([sopInstanceUid, study, bytes]) =>
  dataSet({
    sopInstanceUid,
    studyInstanceUid: `1.2.840.8.${study}`,
    pixels: Buffer.alloc(bytes, study),
  }),
);
const content = fc.oneof(
  { weight: 3, arbitrary: perhapsDamaged(object, 2) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)) },
);

const command = fc
  .record(
    {
      commandField: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...OPERATIONS) }, us),
      hasDataSet: fc.boolean(),
      messageId: us,
      messageIdBeingRespondedTo: us,
      status: us,
      affectedSopClassUid: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...SOP_CLASSES) }, uid),
      requestedSopClassUid: fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom(...SOP_CLASSES) },
        uid,
      ),
      affectedSopInstanceUid: uid,
      requestedSopInstanceUid: uid,
      actionTypeId: us,
      eventTypeId: us,
    },
    { requiredKeys: ['commandField', 'hasDataSet'] },
  )
  .map((fields) => encodeCommandSet(fields));

/**
 * Generates P-DATA-TFs, whole or in fragments. The last fragment may be missing or not marked as
 * last.
 */
const fragments = (bytes: fc.Arbitrary<Buffer>, isCommand: boolean) =>
  fc
    .record({
      bytes,
      contextId,
      size: fc.integer({ min: 1, max: 4000 }),
      lacksLast: fc.nat(9).map((n) => n === 0),
      command: fc.nat(19).map((n) => (n === 0 ? !isCommand : isCommand)),
    })
    .map(({ bytes: whole, contextId: context, size, lacksLast, command: flag }) => {
      const pdus: Buffer[] = [];
      for (let start = 0; start === 0 || start < whole.length; start += size) {
        const last = start + size >= whole.length && !lacksLast;
        pdus.push(
          ...encodeData(context, whole.subarray(start, start + size), { command: flag, last }),
        );
      }
      return Buffer.concat(pdus);
    });

/** Generates a C-STORE that is correct apart from its data set. */
const store = fc.tuple(uid, content, fc.nat(65_535)).map(([instance, data, messageId]) => {
  const request = encodeCommandSet({
    commandField: COMMAND.cStore,
    hasDataSet: true,
    messageId,
    priority: 0,
    affectedSopClassUid: ULTRASOUND_IMAGE,
    affectedSopInstanceUid: instance,
  });
  return Buffer.concat([
    ...encodeData(3, request, { command: true, last: true }),
    ...encodeData(3, data, { command: false, last: true }),
  ]);
});

/** Generates PDUs of any type. Their length is as often wrong as right. */
const anyPdu = fc
  .record({
    type: byte,
    announced: fc.option(fc.oneof(fc.nat(2 ** 16), fc.constant(2 ** 32 - 1))),
    body: fc.uint8Array({ maxLength: 300 }),
  })
  .map(({ type, announced, body }) => {
    const header = Buffer.from([type, 0, 0, 0, 0, 0]);
    header.writeUInt32BE(announced ?? body.length, 2);
    return Buffer.concat([header, body]);
  });

const written = fc.oneof(
  { weight: 5, arbitrary: perhapsDamaged(store, 3) },
  { weight: 4, arbitrary: perhapsDamaged(fragments(command, true), 4) },
  { weight: 3, arbitrary: perhapsDamaged(fragments(content, false), 4) },
  { weight: 1, arbitrary: anyPdu },
  { weight: 1, arbitrary: fc.constant(encodeReleaseRequest()) },
  {
    weight: 1,
    arbitrary: fc.tuple(byte, byte).map(([source, reason]) => encodeAbort({ source, reason })),
  },
  { weight: 1, arbitrary: associate },
);

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: written.map((bytes): Step => ({ do: 'write', bytes })) },
  { weight: 1, arbitrary: fc.nat(30).map((milliseconds): Step => ({ do: 'pause', milliseconds })) },
);

const leave = fc.constantFrom<Step>(
  { do: 'finish' },
  { do: 'finish' },
  { do: 'reset' },
  { do: 'write', bytes: encodeReleaseRequest() },
  // The peer sends nothing more, so the gateway has to end the association.
  { do: 'pause', milliseconds: 1500 },
);

/** Connections from peers that are broken, hostile or cut off. */
export const session: fc.Arbitrary<Session> = fc
  .record({
    opening: fc.oneof(
      { weight: 6, arbitrary: usualAssociate },
      { weight: 3, arbitrary: perhapsDamaged(associate, 2) },
      { weight: 1, arbitrary: anyPdu },
    ),
    steps: fc.array(step, { maxLength: 8 }),
    leave,
    pieceBytes: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 50, max: 65_536 })),
  })
  .map(({ opening, steps, leave: last, pieceBytes }) => ({
    steps: [{ do: 'write', bytes: opening }, ...steps, last],
    pieceBytes,
  }));
