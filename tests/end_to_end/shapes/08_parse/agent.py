"""Reads an invoice in two steps, each with a schema."""

from openai import OpenAI
from pydantic import BaseModel


class Kind(BaseModel):
    kind: str
    language: str


class Invoice(BaseModel):
    number: str
    total: float
    currency: str


client = OpenAI()
MODEL = "gpt-4o-2024-08-06"


def classify(text: str) -> Kind | None:
    completion = client.chat.completions.parse(
        model=MODEL,
        messages=[
            {"role": "system", "content": "Say what kind of document this is."},
            {"role": "user", "content": text},
        ],
        response_format=Kind,
    )
    return completion.choices[0].message.parsed


def read_invoice(text: str) -> str:
    kind = classify(text)
    if kind is None or kind.kind != "invoice":
        return "not an invoice"
    completion = client.chat.completions.parse(
        model=MODEL,
        messages=[
            {"role": "system", "content": f"Read this {kind.language} invoice."},
            {"role": "user", "content": text},
        ],
        response_format=Invoice,
    )
    invoice = completion.choices[0].message.parsed
    return f"{invoice.number}: {invoice.total} {invoice.currency}"
