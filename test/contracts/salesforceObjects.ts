/**
 * Objects of Salesforce with the fields that the connector's queries use. Types and nullability are those of the
 * package `@jsforce/jsforce-node` 3.10.16 (lib/types/standard-schema.d.ts), taken on 2026-11-26, with two exceptions.
 * The package lacks Lead.Fax, Lead.MobilePhone and Opportunity.ContactId: these are taken from the object reference
 * (https://developer.salesforce.com/docs/platform/object-reference). The package has timestamps for dates without a
 * time, which are dates here.
 */
import { each, flag, timestamp, number, object, orNull, type Shape, text } from './answers/shape.js';

const nullableText = orNull(text);
const date: Shape = { ...text, pattern: /^\d{4}-\d\d-\d\d$/ };
const nullableDate = orNull(date);
/**
 * A compound field: https://developer.salesforce.com/docs/platform/object-reference/guide/compound-fields-address.html.
 */
const address = orNull(
  object({
    ...each(
      nullableText,
      'city',
      'country',
      'countryCode',
      'geocodeAccuracy',
      'postalCode',
      'state',
      'stateCode',
      'street',
    ),
    ...each(orNull(number), 'latitude', 'longitude'),
  }),
);
const record = { Id: text, ...each(timestamp, 'CreatedDate', 'LastModifiedDate', 'SystemModstamp'), IsDeleted: flag };
const owned = { ...record, OwnerId: text, Description: nullableText, LastActivityDate: nullableDate };
const activity = { ...record, OwnerId: text, ...each(nullableText, 'WhoId', 'AccountId', 'Subject', 'Description') };
const person = {
  ...owned,
  ...each(nullableText, 'FirstName', 'Title', 'Phone', 'MobilePhone', 'Fax', 'Email'),
  LastName: text,
};

/** Fields by object. */
export const FIELDS: Readonly<Record<string, Readonly<Record<string, Shape>>>> = {
  User: { ...record, ...each(text, 'Username', 'Name', 'Email') },
  ContentWorkspace: { ...record, Name: text, RootContentFolderId: nullableText },
  ContentFolder: { ...record, Name: text, ParentContentFolderId: nullableText },
  ContentFolderItem: { ...record, Title: text, IsFolder: flag, ParentContentFolderId: nullableText },
  ContentDocument: {
    ...record,
    Title: text,
    ...each(nullableText, 'FileExtension', 'FileType', 'ParentId', 'LatestPublishedVersionId'),
  },
  ContentVersion: { ...record, ContentLocation: text },
  Knowledge__kav: {
    ...record,
    ...each(text, 'KnowledgeArticleId', 'Title', 'Language', 'UrlName', 'PublishStatus'),
    Summary: nullableText,
  },
  Account: {
    ...owned,
    Name: text,
    ...each(nullableText, 'Industry', 'Website', 'Phone', 'Fax'),
    NumberOfEmployees: orNull(number),
    ...each(address, 'BillingAddress', 'ShippingAddress'),
  },
  Contact: {
    ...person,
    Name: text,
    ...each(nullableText, 'Department', 'AccountId', 'HomePhone', 'OtherPhone'),
    ...each(address, 'MailingAddress', 'OtherAddress'),
  },
  Lead: {
    ...person,
    ...each(text, 'Name', 'Status', 'Company'),
    ...each(nullableText, 'LeadSource', 'ConvertedAccountId', 'ConvertedContactId'),
    ConvertedDate: nullableDate,
    Address: address,
  },
  Opportunity: {
    ...owned,
    ...each(text, 'Name', 'StageName'),
    ...each(nullableText, 'AccountId', 'ContactId'),
    Amount: orNull(number),
    ...each(flag, 'IsClosed', 'IsWon'),
    CloseDate: date,
  },
  Task: { ...activity, ...each(text, 'Priority', 'Status') },
  Event: {
    ...activity,
    Location: nullableText,
    IsAllDayEvent: flag,
    ...each(orNull(timestamp), 'StartDateTime', 'EndDateTime'),
    ActivityDate: nullableDate,
  },
};

/** Objects by the name of the relationship that leads to them. */
export const RELATED: Readonly<Record<string, string>> = {
  LatestPublishedVersion: 'ContentVersion',
  Tasks: 'Task',
  Events: 'Event',
};
