"""Python clients of OpenAI's API against /v1, unmodified and at their defaults.

Each check prints a line; the process ends with 1 where one failed. A package
that is not installed is skipped with a line that says so.
"""

import asyncio
import importlib
import json
import os
import sys
import traceback

BASE = os.environ.get("CLIENT_BASE_URL", "http://127.0.0.1:7700/v1")
KEY = os.environ.get("CLIENT_KEY", "unused")
QUESTION = "Which films did Christopher Nolan direct?"
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather in a city",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False},
    },
}

os.environ.update(OPENAI_BASE_URL=BASE, OPENAI_API_KEY=KEY, OPENAI_AGENTS_DISABLE_TRACING="1", LITELLM_LOCAL_MODEL_COST_MAP="True")
failed = False


def report(name, ok, got=""):
    global failed
    failed = failed or not ok
    print(("ok  " if ok else "FAIL"), name, "" if ok else f"\n     {got}", flush=True)


def check(name):
    """Runs a check at once; it returns whether all is well, and what it saw."""

    def run(f):
        try:
            ok, got = f()
        except Exception:
            ok, got = False, traceback.format_exc(limit=-3)
        report(name, ok, got)

    return run


def raises(kind, f, status=None):
    try:
        got = f()
    except kind as e:
        code = getattr(e, "status_code", None)
        return status is None or code == status, f"{type(e)} with status {code}"
    return False, f"no error but {got!r}"


def have(*modules):
    try:
        for m in modules:
            importlib.import_module(m)
        return True
    except ImportError as e:
        print("skip", modules[0], e, flush=True)
        return False


def openai_python():
    import openai
    from pydantic import BaseModel

    client = openai.OpenAI(base_url=BASE, api_key=KEY, max_retries=0)
    ask = {"model": "demo/text", "messages": [{"role": "user", "content": QUESTION}]}

    @check("openai models")
    def _():
        ids = [m.id for m in client.models.list()]
        return "demo/text" in ids and client.models.retrieve("demo/text").id == "demo/text", ids

    @check("openai whole, usage")
    def _():
        r = client.chat.completions.create(**ask)
        return "Inception" in r.choices[0].message.content and r.usage.total_tokens > 0 and r.model == "demo/text" and r._request_id, r

    @check("openai streamed, usage")
    def _():
        chunks = list(client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}))
        text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        return "Inception" in text and chunks[-1].usage.total_tokens > 0, chunks

    @check("openai stream helper, tools")
    def _():
        with client.chat.completions.stream(model="demo/tool", messages=ask["messages"], tools=[WEATHER]) as s:
            r = s.get_final_completion()
        return json.loads(r.choices[0].message.tool_calls[0].function.arguments) == {"city": "Paris"}, r

    @check("openai tools")
    def _():
        r = client.chat.completions.create(model="demo/tool", messages=ask["messages"], tools=[WEATHER])
        c = r.choices[0]
        return c.finish_reason == "tool_calls" and json.loads(c.message.tool_calls[0].function.arguments) == {"city": "Paris"}, r

    class City(BaseModel):
        city: str

    @check("openai structured output")
    def _():
        r = client.chat.completions.parse(model="demo/json", messages=ask["messages"], response_format=City)
        return r.choices[0].message.parsed.city == "Paris", r

    @check("openai wrong key")
    def _():
        return raises(openai.AuthenticationError, lambda: client.with_options(api_key="nope").chat.completions.create(**ask), 401)

    @check("openai unknown model")
    def _():
        return raises(openai.NotFoundError, lambda: client.chat.completions.create(**{**ask, "model": "nope"}), 404)

    @check("openai 429")
    def _():
        try:
            client.chat.completions.create(**{**ask, "model": "demo/error"})
        except openai.RateLimitError as e:
            return e.response.headers["retry-after"] == "7" and e.code == "rate_limit_exceeded" and "slow down" in str(e), e
        return False, "no error"

    @check("openai cancel whole")
    def _():
        return raises(openai.APITimeoutError, lambda: client.with_options(timeout=0.5).chat.completions.create(**{**ask, "model": "demo/c1000-d50"}))

    @check("openai cancel stream")
    def _():
        s = client.chat.completions.create(**{**ask, "model": "demo/c1000-d50"}, stream=True)
        next(iter(s))
        s.close()
        return True, ""

    @check("openai responses whole, kept, goes on")
    def _():
        r = client.responses.create(model="demo/text", input=QUESTION)
        again = client.responses.retrieve(r.id)
        more = client.responses.create(model="demo/text", input="And then?", previous_response_id=r.id)
        client.responses.delete(r.id)
        return "Inception" in r.output_text and again.output_text == r.output_text and more.status == "completed" and r.usage.total_tokens > 0, r

    @check("openai responses streamed")
    def _():
        with client.responses.stream(model="demo/text", input=QUESTION) as s:
            events = [e.type for e in s]
            r = s.get_final_response()
        return "Inception" in r.output_text and events[-1] == "response.completed", events

    @check("openai responses tools")
    def _():
        tool = {"type": "function", **WEATHER["function"], "strict": True}
        with client.responses.stream(model="demo/tool", input=QUESTION, tools=[tool]) as s:
            r = s.get_final_response()
        return json.loads(r.output[-1].arguments) == {"city": "Paris"}, r

    @check("openai responses structured output")
    def _():
        return client.responses.parse(model="demo/json", input=QUESTION, text_format=City).output_parsed.city == "Paris", ""


def langchain():
    import openai
    from langchain_openai import ChatOpenAI
    from pydantic import BaseModel

    def model(name, **more):
        return ChatOpenAI(model="demo/" + name, base_url=BASE, api_key=more.pop("api_key", KEY), max_retries=0, **more)

    @check("langchain whole, usage")
    def _():
        r = model("text").invoke(QUESTION)
        return "Inception" in r.content and r.usage_metadata["total_tokens"] > 0, r

    @check("langchain streamed")
    def _():
        return "Inception" in "".join(c.content for c in model("text").stream(QUESTION)), ""

    @check("langchain responses")
    def _():
        r = model("text", use_responses_api=True).invoke(QUESTION)
        return "Inception" in r.text, r

    @check("langchain tools")
    def _():
        r = model("tool").bind_tools([WEATHER]).invoke(QUESTION)
        return r.tool_calls[0]["args"] == {"city": "Paris"}, r

    class City(BaseModel):
        city: str

    @check("langchain structured output")
    def _():
        return model("json").with_structured_output(City).invoke(QUESTION).city == "Paris", ""

    @check("langchain wrong key")
    def _():
        return raises(openai.AuthenticationError, lambda: model("text", api_key="nope").invoke(QUESTION))

    @check("langchain unknown model")
    def _():
        return raises(openai.NotFoundError, lambda: ChatOpenAI(model="nope", base_url=BASE, api_key=KEY).invoke(QUESTION))

    @check("langchain 429")
    def _():
        return raises(openai.RateLimitError, lambda: model("error").invoke(QUESTION))


def litellm_python():
    import litellm

    def ask(model, **more):
        return litellm.completion(model="openai/" + model, api_base=BASE, api_key=more.pop("api_key", KEY), messages=[{"role": "user", "content": QUESTION}], num_retries=0, max_retries=0, **more)

    @check("litellm whole, usage")
    def _():
        r = ask("demo/text")
        return "Inception" in r.choices[0].message.content and r.usage.total_tokens > 0, r

    @check("litellm streamed")
    def _():
        return "Inception" in "".join(c.choices[0].delta.content or "" for c in ask("demo/text", stream=True)), ""

    @check("litellm tools")
    def _():
        return json.loads(ask("demo/tool", tools=[WEATHER]).choices[0].message.tool_calls[0].function.arguments) == {"city": "Paris"}, ""

    @check("litellm wrong key")
    def _():
        return raises(litellm.AuthenticationError, lambda: ask("demo/text", api_key="nope"))

    @check("litellm unknown model")
    def _():
        return raises(litellm.NotFoundError, lambda: ask("nope"))

    @check("litellm 429")
    def _():
        return raises(litellm.RateLimitError, lambda: ask("demo/error"))


def llama_index():
    import openai
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.openai_like import OpenAILike

    def model(name, **more):
        return OpenAILike(model=name, api_base=BASE, api_key=more.pop("api_key", KEY), is_chat_model=True, is_function_calling_model=True, max_retries=0, **more)

    messages = [ChatMessage(role="user", content=QUESTION)]

    @check("llama-index whole")
    def _():
        r = model("demo/text").chat(messages)
        return "Inception" in r.message.content, r

    @check("llama-index streamed")
    def _():
        return "Inception" in list(model("demo/text").stream_chat(messages))[-1].message.content, ""

    @check("llama-index wrong key")
    def _():
        return raises(openai.AuthenticationError, lambda: model("demo/text", api_key="nope").chat(messages))

    @check("llama-index unknown model")
    def _():
        return raises(openai.NotFoundError, lambda: model("nope").chat(messages))


def pydantic_ai():
    from pydantic import BaseModel
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import ModelHTTPError
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=BASE, api_key=KEY)

    @check("pydantic-ai whole, usage")
    def _():
        r = Agent(OpenAIChatModel("demo/text", provider=provider)).run_sync(QUESTION)
        u = r.usage() if callable(r.usage) else r.usage
        return "Inception" in r.output and u.total_tokens > 0, r

    @check("pydantic-ai streamed")
    def _():
        async def run():
            async with Agent(OpenAIChatModel("demo/text", provider=provider)).run_stream(QUESTION) as r:
                return await r.get_output()

        got = asyncio.run(run())
        return "Inception" in got, got

    @check("pydantic-ai responses")
    def _():
        r = Agent(OpenAIResponsesModel("demo/text", provider=provider)).run_sync(QUESTION)
        return "Inception" in r.output, r

    class City(BaseModel):
        city: str

    @check("pydantic-ai structured output by a tool")
    def _():
        r = Agent(OpenAIChatModel("demo/tool", provider=provider), output_type=City).run_sync(QUESTION)
        return r.output.city == "Paris", r

    @check("pydantic-ai unknown model")
    def _():
        return raises(ModelHTTPError, lambda: Agent(OpenAIChatModel("nope", provider=provider)).run_sync(QUESTION), 404)


def instructor_python():
    import instructor
    import openai
    from pydantic import BaseModel

    class City(BaseModel):
        city: str

    @check("instructor by a tool")
    def _():
        c = instructor.from_openai(openai.OpenAI(base_url=BASE, api_key=KEY))
        return c.chat.completions.create(model="demo/tool", response_model=City, messages=[{"role": "user", "content": QUESTION}]).city == "Paris", ""

    @check("instructor by JSON")
    def _():
        c = instructor.from_openai(openai.OpenAI(base_url=BASE, api_key=KEY), mode=instructor.Mode.JSON)
        return c.chat.completions.create(model="demo/json", response_model=City, messages=[{"role": "user", "content": QUESTION}]).city == "Paris", ""


def openai_agents():
    import openai
    from agents import Agent, Runner, function_tool, set_default_openai_client, set_tracing_disabled
    from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel

    set_tracing_disabled(True)

    def fresh():
        """A client belongs to the loop that it was first used in."""
        client = openai.AsyncOpenAI(base_url=BASE, api_key=KEY, max_retries=0)
        set_default_openai_client(client, use_for_tracing=False)
        return client

    # A slash divides a provider from a model there: its models are workspaces alone.
    @check("openai-agents whole")
    def _():
        fresh()
        r = Runner.run_sync(Agent(name="a", instructions="Be brief.", model="demo"), QUESTION)
        return "Inception" in r.final_output, r

    @check("openai-agents streamed")
    def _():
        fresh()
        async def run():
            r = Runner.run_streamed(Agent(name="a", model="demo"), QUESTION)
            async for _ in r.stream_events():
                pass
            return r.final_output

        got = asyncio.run(run())
        return "Inception" in got, got

    @check("openai-agents tools")
    def _():
        fresh()
        seen = []

        @function_tool
        def weather(city: str) -> str:
            seen.append(city)
            return "Sun."

        agent = Agent(name="a", model="tool", tools=[weather], tool_use_behavior="stop_on_first_tool")
        r = Runner.run_sync(agent, QUESTION)
        return seen == ["Paris"] and r.final_output == "Sun.", r

    @check("openai-agents by chat completions")
    def _():
        fresh()
        r = Runner.run_sync(Agent(name="a", model=OpenAIChatCompletionsModel("demo/text", fresh())), QUESTION)
        return "Inception" in r.final_output, r

    @check("openai-agents unknown model")
    def _():
        fresh()
        return raises(openai.NotFoundError, lambda: Runner.run_sync(Agent(name="a", model="nope"), QUESTION))


def llm_python():
    import llm
    from llm.default_plugins.openai_models import Chat

    def model(name):
        m = Chat(name, model_name=name, api_base=BASE)
        m.key = KEY
        return m

    @check("llm whole")
    def _():
        r = model("demo/text").prompt(QUESTION, stream=False).text()
        return "Inception" in r, r

    @check("llm streamed")
    def _():
        r = "".join(model("demo/text").prompt(QUESTION))
        return "Inception" in r, r


for needs, client in [
    (("openai",), openai_python),
    (("langchain_openai",), langchain),
    (("litellm",), litellm_python),
    (("llama_index.llms.openai_like",), llama_index),
    (("pydantic_ai.models.openai",), pydantic_ai),
    (("instructor",), instructor_python),
    (("agents",), openai_agents),
    (("llm",), llm_python),
]:
    if have(*needs):
        try:
            client()
        except Exception:
            report(needs[0], False, traceback.format_exc(limit=-3))
sys.stdout.flush()
# Some packages leave threads that would keep the process.
os._exit(1 if failed else 0)
