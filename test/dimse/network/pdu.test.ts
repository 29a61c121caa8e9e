import { describe, expect, test } from 'vitest';
import { decodeCommandSet, encodeCommandSet, responseTo } from '../../../dimse/network/message.ts';
import {
  acceptedContexts,
  answerContexts,
  whyRejected,
} from '../../../dimse/network/negotiation.ts';
import {
  type AssociateRequest,
  CONTEXT_RESULT,
  decodeAssociateAccept,
  decodeAssociateRequest,
  encodeAssociateAccept,
} from '../../../dimse/network/pdu.ts';
import { abortFor, rejectionFor, statusFor } from '../../../dimse/network/status.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { associateRequest } from './raw-peer.ts';

const JPEG = '1.2.840.10008.1.2.4.50';
const EXPLICIT = '1.2.840.10008.1.2.1';
const IMPLICIT = '1.2.840.10008.1.2';
const US = '1.2.840.10008.5.1.4.1.1.6.1';

const request = decodeAssociateRequest(associateRequest().subarray(6));

describe('A-ASSOCIATE-RQ', () => {
  test('can be encoded and decoded again', () => {
    expect(request).toMatchObject({
      calledAeTitle: 'SONOGATE',
      callingAeTitle: 'CART',
      applicationContext: '1.2.840.10008.3.1.1.1',
      maxPduBytes: 16_384,
    });
    expect(request.contexts[1]).toEqual({
      id: 3,
      abstractSyntax: US,
      transferSyntaxes: [EXPLICIT],
    });
  });

  test.each([10, 67, 70, 90, 150])('cut after %i bytes is an unexpected PDU', (bytes) => {
    expect(() => decodeAssociateRequest(associateRequest().subarray(6, 6 + bytes))).toThrowError(
      expect.objectContaining({ code: 'unexpected_pdu' }),
    );
  });

  test.each([
    ['no item', Buffer.alloc(0)],
    ['an empty, unknown item', Buffer.from([0x7f, 0, 0, 0])],
  ])('with %s has no context', (_, items) => {
    const body = Buffer.concat([associateRequest().subarray(6, 6 + 68), items]);
    expect(decodeAssociateRequest(body).contexts).toEqual([]);
  });

  test.each([
    ['CART', 'CART'],
    ['CART\0\0\0', 'CART'],
    ['CART \0 \0', 'CART'],
    ['  CART', 'CART'],
    ['CART 2', 'CART 2'],
  ])('with the calling AE title %j is from %j', (callingAeTitle, title) => {
    const body = associateRequest({ callingAeTitle }).subarray(6);
    expect(decodeAssociateRequest(body).callingAeTitle).toBe(title);
  });

  test.each([
    { callingAeTitle: 'CA\0RT' },
    { callingAeTitle: '\0CART' },
    { callingAeTitle: 'CART\n' },
    { callingAeTitle: 'CART\x7f' },
    { callingAeTitle: 'CART\x9f' },
    { calledAeTitle: 'SONO\0GATE' },
  ])('with a control character in a title (%j) is an unexpected PDU', (over) => {
    const body = associateRequest(over).subarray(6);
    expect(() => decodeAssociateRequest(body)).toThrowError(
      expect.objectContaining({ code: 'unexpected_pdu' }),
    );
  });

  test.each<[string, Partial<AssociateRequest>, string | null]>([
    ['is taken when the title fits', {}, null],
    ['to another title is refused', { calledAeTitle: 'OTHER' }, 'called_ae_not_recognized'],
    [
      'of another application context is refused',
      { applicationContext: '1.2.3' },
      'application_context_not_supported',
    ],
    [
      'of a later version of the protocol is refused',
      { protocolVersion: 2 },
      'protocol_version_not_supported',
    ],
    ['of several versions is taken', { protocolVersion: 3 }, null],
  ])('%s', (_what, over, code) => {
    expect(whyRejected({ ...request, ...over }, 'SONOGATE')).toBe(code);
  });
});

describe('presentation contexts', () => {
  const offer = (uid: string) =>
    uid === US ? { preferred: [EXPLICIT, IMPLICIT], others: [JPEG] } : null;
  const answer = (abstractSyntax: string, transferSyntaxes: string[]) =>
    answerContexts([{ id: 1, abstractSyntax, transferSyntaxes }], offer).answers[0];

  test("use the first of our preferred syntaxes in the sender's order", () => {
    expect(answer(US, [IMPLICIT, EXPLICIT])?.transferSyntax).toBe(IMPLICIT);
    expect(answer(US, ['1.2.3', EXPLICIT, IMPLICIT])?.transferSyntax).toBe(EXPLICIT);
  });

  test('use another syntax if the sender proposes no preferred one', () => {
    const accepted = { id: 1, result: CONTEXT_RESULT.accepted };
    expect(answer(US, [JPEG, IMPLICIT])).toEqual({ ...accepted, transferSyntax: IMPLICIT });
    expect(answer(US, ['1.2.3', JPEG])).toEqual({ ...accepted, transferSyntax: JPEG });
  });

  test('have different results for an unknown class and an unknown transfer syntax', () => {
    expect(answer('1.2.3', [EXPLICIT])?.result).toBe(CONTEXT_RESULT.abstractSyntaxNotSupported);
    expect(answer(US, ['1.2.3'])?.result).toBe(CONTEXT_RESULT.transferSyntaxesNotSupported);
  });

  test('are preserved in the A-ASSOCIATE-AC', () => {
    const contexts = [{ id: 5, result: 0, transferSyntax: JPEG }];
    const pdu = encodeAssociateAccept({ ...request, contexts, maxPduBytes: 131_072 });
    expect(decodeAssociateAccept(pdu.subarray(6))).toMatchObject({
      contexts,
      maxPduBytes: 131_072,
    });
  });
});

test.each([
  ['accepted', true, { id: 1, result: 0 }],
  ['refused', false, { id: 1, result: 3 }],
  ['never proposed', false, { id: 3, result: 0 }],
])('a context that was %s can be used: %s', (_, used, answer) => {
  const proposed = [{ id: 1, abstractSyntax: US, transferSyntaxes: [JPEG] }];
  const accepted = acceptedContexts(proposed, [{ ...answer, transferSyntax: JPEG }]);
  expect([...accepted.keys()]).toEqual(used ? [1] : []);
});

test('the AE titles in an A-ASSOCIATE-AC are ignored', () => {
  const pdu = encodeAssociateAccept({ ...request, callingAeTitle: 'CA\0RT', contexts: [] });
  expect(decodeAssociateAccept(pdu.subarray(6)).contexts).toEqual([]);
});

describe('a command set', () => {
  const command = {
    commandField: 1,
    hasDataSet: true,
    messageId: 7,
    priority: 0,
    affectedSopClassUid: US,
    affectedSopInstanceUid: '1.2.3',
  };

  test('can be encoded and decoded again', () => {
    expect(decodeCommandSet(encodeCommandSet(command))).toMatchObject(command);
  });

  test('cut short is an unexpected PDU', () => {
    expect(() => decodeCommandSet(encodeCommandSet(command).subarray(0, 33))).toThrowError(
      expect.objectContaining({ code: 'unexpected_pdu' }),
    );
  });

  test('is answered with its message id and a comment of at most 64 characters', () => {
    const response = responseTo(command, 0xa700, 'x'.repeat(80));
    expect(response).toMatchObject({ commandField: 0x8001, messageIdBeingRespondedTo: 7 });
    expect(response.errorComment).toHaveLength(64);
  });
});

describe('errors from the catalogue, sent to a peer,', () => {
  test('have an abort, a rejection and a status', () => {
    expect(abortFor('pdu_too_large')).toEqual({ source: 2, reason: 6 });
    expect(rejectionFor('called_ae_not_recognized')).toEqual({ result: 1, source: 1, reason: 7 });
    expect(statusFor(new SonogateError('object_mismatch')).status).toBe(0xa900);
  });

  test('ask the sender to retry after our own defect, and do not reveal its text', () => {
    expect(statusFor(new Error('secret'))).toEqual({ status: 0xa700, comment: 'Out of resources' });
  });
});
