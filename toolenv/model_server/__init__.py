"""An OpenAI-compatible server as the project uses one: agents, simulated users and judges alike."""

from toolenv.model_server.backoff import Backoff
from toolenv.model_server.client import ChatServer, visible_text
from toolenv.model_server.clock import CLOCK, Clock
from toolenv.model_server.outcome import Failure, Reply

__all__ = ["CLOCK", "Backoff", "ChatServer", "Clock", "Failure", "Reply", "visible_text"]
